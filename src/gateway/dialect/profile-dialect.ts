// The dialect of any profile, for `cardpoll gateway simulate --profile`: calls are understood by the profile's templates, and
// answered where and as the profile reads.
import type { GatewayConfig, GatewayInterface } from '../../config/daemon-config.ts';
import { INTERFACE_NAMES, type InterfaceName } from '../../domain/gateway-interface.ts';
import type { SimulatedFleet } from '../simulated-fleet.ts';
import { AnswerMaker } from './answer-maker.ts';
import type { Asked, Dialect, ReceivedCall, Reply } from './dialect.ts';
import { ProofCheck } from './proof-check.ts';
import { type CallTemplate, callTemplate } from './template-match.ts';

const RETRY_SOON = ['Retry-After', '1'] as const;

interface Offered {
  readonly name: InterfaceName;
  readonly call: GatewayInterface;
  readonly template: CallTemplate;
}

export class ProfileDialect implements Dialect {
  readonly busy: Reply;
  readonly failed: Reply = { status: 500, body: '{"message":"simulated failure"}' };
  readonly #offered: readonly Offered[];
  readonly #answers: AnswerMaker;
  readonly #proofs: ProofCheck;

  constructor(profile: GatewayConfig, now: () => number) {
    const { kind, name } = profile.auth;
    const credential = kind === 'query' ? name : null;
    this.#offered = INTERFACE_NAMES.flatMap((each) => {
      const call = profile.interfaces[each];
      return call === null ? [] : [{ name: each, call, template: callTemplate(call, credential) }];
    });
    this.#answers = new AnswerMaker(profile);
    this.#proofs = new ProofCheck(profile, now);
    this.busy = {
      ...this.#answers.refusal('throttled', 429, 'too many calls in flight'),
      headers: RETRY_SOON,
    };
  }

  interfaceOf(method: string, url: string): 'in_body' | null {
    return this.#offered.some(({ template }) => template.fitsHead(method, url)) ? 'in_body' : null;
  }

  understand(call: ReceivedCall): Asked | Reply {
    if (!this.#proofs.accepts(call))
      return this.#answers.refusal('auth', 401, 'the credentials are not accepted');
    for (const { name, template, call: its } of this.#offered) {
      const [first, ...more] = template.cardsOf(call) ?? [];
      const fits = more.length < (its.batch?.size ?? 1);
      if (first !== undefined && fits) return { name, cards: [first, ...more] };
    }
    const near = this.#offered.filter(({ template }) => template.fitsHead(call.method, call.url));
    return misunderstood(400, call, near);
  }

  answer({ name, cards }: Asked, fleet: SimulatedFleet): Reply {
    const asked = this.#sameCallAs(name);
    const readings = asked.flatMap(({ call: { reading } }) => reading ?? []);
    const batch = asked[0]?.call.batch ?? null;
    if (batch !== null) return this.#answers.forBatch(readings, batch, cards, fleet);
    const [card] = cards;
    if (!fleet.knows(card)) return this.#answers.refusal('unknownCard', 404, 'unknown card');
    if (name === 'stop') fleet.stop(card);
    if (name === 'start') fleet.start(card);
    return this.#answers.forCard(readings, card, fleet);
  }

  answerOther(call: ReceivedCall): Reply {
    return this.#proofs.grant(call) ?? misunderstood(404, call, this.#offered);
  }

  /** Some gateways answer usage and state at once: the interfaces that the profile calls in exactly the same way. */
  #sameCallAs(name: InterfaceName): readonly Offered[] {
    const shape = shapeOf(this.#offered.find((each) => each.name === name)?.call);
    return this.#offered.filter(({ call }) => shapeOf(call) === shape);
  }
}

function shapeOf(call: GatewayInterface | undefined): string {
  if (call === undefined) return '';
  const { method, path, query, headers, body, form, batch } = call;
  return JSON.stringify([method, path, query, headers, body, form, batch]);
}

function misunderstood(status: number, { method, url }: ReceivedCall, offered: readonly Offered[]): Reply {
  const problem = `${method} ${url.split('?', 1)[0]} is no call of the profile`;
  const calls = offered.map(({ name, call }) => {
    const { method: its, path, query, headers, body, form } = call;
    return { interface: name, method: its, path, query, headers, body: body ?? form };
  });
  return { status, body: JSON.stringify({ problem, calls }) };
}
