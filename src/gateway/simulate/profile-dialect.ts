// The dialect of any profile, for `cardpoll gateway simulate --profile`: calls are understood by the profile's templates, and
// answered where and as the profile reads: the inverse of answer.ts. A value goes where the profile says that it is, in its unit,
// with a code that means success; errors get the codes that the profile has for them.
import type { Code, GatewayConfig, GatewayInterface, Reading } from '../../domain/gateway/gateway-config.ts';
import { fromMegabytes } from '../../domain/gateway/profile-syntax.ts';
import { INTERFACE_NAMES, type InterfaceName } from '../../domain/gateway-interface.ts';
import { tokenPlaceOf } from '../request/request.ts';
import type { Asked, Dialect, ReceivedCall, Reply } from './dialect.ts';
import { placed } from './placed.ts';
import { ProofCheck } from './proof-check.ts';
import type { SimulatedFleet } from './simulated-fleet.ts';
import { type CallTemplate, callTemplate } from './template-match.ts';

const RETRY_SOON = ['Retry-After', '1'] as const;

/** What a gateway that tells what is left has for every card, in megabytes. */
const TOTAL_MB = 10_240;

interface Offered {
  readonly name: InterfaceName;
  readonly call: GatewayInterface;
  readonly template: CallTemplate;
}

export class ProfileDialect implements Dialect {
  readonly busy: Reply;
  readonly failed: Reply = { status: 500, body: '{"message":"simulated failure"}' };
  readonly #offered: readonly Offered[];
  readonly #proofs: ProofCheck;

  constructor(
    private readonly profile: GatewayConfig,
    now: () => number,
  ) {
    const place = tokenPlaceOf(profile);
    const credential = place?.in === 'query' ? place.name : null;
    this.#offered = INTERFACE_NAMES.flatMap((each) => {
      const call = profile.interfaces[each];
      return call === null ? [] : [{ name: each, call, template: callTemplate(call, credential) }];
    });
    this.#proofs = new ProofCheck(profile, now);
    this.busy = { ...this.#refusal('throttled', 429, 'too many calls in flight'), headers: RETRY_SOON };
  }

  interfaceOf(method: string, url: string): 'in_body' | null {
    return this.#offered.some(({ template }) => template.fitsHead(method, url)) ? 'in_body' : null;
  }

  understand(call: ReceivedCall): Asked | Reply {
    if (!this.#proofs.accepts(call)) return this.#refusal('auth', 401, 'the credentials are not accepted');
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
    const list = asked[0]?.call.batch ?? asked[0]?.call.find ?? null;
    if (list !== null) {
      const known = cards.filter((card) => fleet.knows(card));
      const items = known.map((card) =>
        this.#withValues(placed({}, list.iccid, card), readings, card, fleet),
      );
      return this.#success(list.items === null ? items : placed({}, list.items, items));
    }
    const [card] = cards;
    if (!fleet.knows(card)) return this.#refusal('unknownCard', 404, 'unknown card');
    if (name === 'stop') fleet.stop(card);
    if (name === 'start') fleet.start(card);
    const places = asked.flatMap(({ call: { iccidValue } }) => iccidValue ?? []);
    const named = places.reduce((body: unknown, place) => placed(body, place, card), {});
    return this.#success(this.#withValues(named, readings, card, fleet));
  }

  answerOther(call: ReceivedCall): Reply {
    return this.#proofs.grant(call) ?? misunderstood(404, call, this.#offered);
  }

  /** Some gateways answer usage and state at once: the interfaces that the profile calls in exactly the same way. */
  #sameCallAs(name: InterfaceName): readonly Offered[] {
    const shapes = this.#offered.filter((each) => each.name === name).map(({ call }) => shapeOf(call));
    return this.#offered.filter(({ call }) => shapes.includes(shapeOf(call)));
  }

  /** @param status of the answer if the profile has no code for the problem, or judges by the status. */
  #refusal(problem: 'throttled' | 'unknownCard' | 'auth', status: number, message: string): Reply {
    const { success, errors } = this.profile;
    const [code] = errors[problem];
    if (code === undefined || errors.path === null) return { status, body: JSON.stringify({ message }) };
    const coded = placed({}, errors.path, this.#typed(code));
    const body = errors.message === null ? coded : placed(coded, errors.message, message);
    return { status: success === null ? status : 200, body: JSON.stringify(body) };
  }

  /** With a code that means success. */
  #success(body: unknown): Reply {
    const { success } = this.profile;
    const [code] = success?.values ?? [];
    return { status: 200, body: JSON.stringify(success === null ? body : placed(body, success.path, code)) };
  }

  /** @param readings of the interfaces that the same call asks for. */
  #withValues(body: unknown, readings: readonly Reading[], card: string, fleet: SimulatedFleet): unknown {
    return readings
      .flatMap((reading) => this.#places(reading, card, fleet))
      .reduce((made, [path, value]) => placed(made, path, value), body);
  }

  #places(reading: Reading, card: string, fleet: SimulatedFleet): ReadonlyArray<[path: string, value: Code]> {
    switch (reading.kind) {
      case 'verified':
        return [[reading.value, verifiedAs(fleet.realStatus(card), reading.trueValues)]];
      case 'status':
        return [[reading.value, this.#status(fleet.cardStatus(card) === 'stopped')]];
      case 'megabytes':
        return [[reading.value, inUnit(fleet.readUsed(card), reading)], ...unitPlaces(reading)];
      case 'remainder': {
        const { remaining, total } = reading;
        const left = TOTAL_MB - fleet.readUsed(card);
        return [
          [total, inUnit(TOTAL_MB, reading)],
          [remaining, inUnit(left, reading)],
          ...unitPlaces(reading),
        ];
      }
    }
  }

  #status(isStopped: boolean): string {
    const { stoppedStatuses } = this.profile;
    const [stopped = 'stopped'] = stoppedStatuses;
    return isStopped ? stopped : stoppedStatuses.includes('active') ? 'running' : 'active';
  }

  /** Codes of errors are texts in the profile; a gateway with numbers for success has numbers for errors. */
  #typed(code: string): Code {
    const isNumber = typeof this.profile.success?.values[0] === 'number' && /^\d{1,15}$/.test(code);
    return isNumber ? Number(code) : code;
  }
}

type VolumeReading = Extract<Reading, { readonly unit: unknown }>;

function inUnit(mb: number, { unit }: VolumeReading): number {
  return fromMegabytes(mb, unit ?? 'MB');
}

function unitPlaces({ unitValue = null }: VolumeReading): ReadonlyArray<[path: string, value: Code]> {
  return unitValue === null ? [] : [[unitValue, 'MB']];
}

/** How it is called, without what is read from its answer. */
function shapeOf({
  reading: _,
  timeoutMs: _1,
  iccidValue: _2,
  pending: _3,
  ...call
}: GatewayInterface): string {
  return JSON.stringify(call);
}

function misunderstood(status: number, { method, url }: ReceivedCall, offered: readonly Offered[]): Reply {
  const problem = `${method} ${url.split('?', 1)[0]} is no call of the profile`;
  const calls = offered.map(({ name, call }) => {
    const { method: its, path, query, headers, body, form } = call;
    return { interface: name, method: its, path, query, headers, body: body ?? form };
  });
  return { status, body: JSON.stringify({ problem, calls }) };
}

/** A value that means verified, or one of the same kind that does not. */
function verifiedAs(isVerified: boolean, trueValues: readonly Code[]): Code {
  const [yes = true] = trueValues;
  if (isVerified) return yes;
  const candidates: readonly Code[] =
    typeof yes === 'boolean' ? [!yes] : typeof yes === 'number' ? [0, 1, -1] : ['0', '1', `not ${yes}`];
  return candidates.find((value) => !trueValues.includes(value)) ?? `not ${yes}`;
}
