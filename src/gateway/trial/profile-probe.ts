// Checks that the gateway speaks the configured profile: calls every read-only interface for a card, and again while the calls
// disagree. Suggests what an operator can do about a failing gateway. Used by the doctor. Stops no card, and shows no
// credentials.

import { type Finding, failed, ok, unknown, warning } from '../../domain/finding.ts';
import type { GatewayConfig } from '../../domain/gateway/gateway-config.ts';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import { isSlow } from '../../domain/stats/usual-latency.ts';
import { tlsFaultOf } from '../../platform/errors.ts';
import { namesProxy } from '../../platform/proxy/http-proxy.ts';
import { AnswerReader } from '../call/answer.ts';
import { ALSO_WHEN_NEW } from '../call/session-end.ts';
import { type CalledCard, type GatewayAnswer, GatewayError, type GatewayFailure } from '../gateway.ts';
import { adviceFor } from './advice.ts';
import { byHand, offeredReadings, type TrialDeps } from './trial.ts';

/** Used when the fleet has no cards; the answer for it proves little. */
const UNKNOWN_CARD: ProbedCard = {
  cardId: 0,
  iccid: '8986000000000000000',
  carrierId: 0,
  vendorId: '0',
  allowanceMb: null,
};

/** This many calls of one kind decide: some failed polls do not mean that the gateway fails. */
const DECIDING = 3;

/** A card of the fleet, and its monthly allowance; null is unlimited. */
interface ProbedCard extends CalledCard {
  readonly allowanceMb: number | null;
}

type Outcome = GatewayAnswer | GatewayError;
type Outcomes = readonly [Outcome, ...Outcome[]];

/** Usual duration of polls, milliseconds; without interfaces of unknown duration. */
export type UsualDurations = Partial<Record<InterfaceName, number>>;

/** @param cards cards of the fleet, tried in turn until the gateway knows one */
export async function probeProfile(
  profile: GatewayConfig,
  cards: readonly ProbedCard[],
  deps: TrialDeps,
  usual: UsualDurations = {},
): Promise<Finding[]> {
  const [first = UNKNOWN_CARD, ...others] = cards;
  const findings = await byHand(profile, deps, (call) =>
    Promise.all(
      offeredReadings(profile).map(async ({ name, method, path }) => {
        const outcomes = await enoughCalls(usual[name] ?? null, async () => {
          let outcome = await call(name, first);
          for (const card of others) {
            if (!(outcome instanceof GatewayError) || !outcome.isCardFault) break;
            outcome = await call(name, card);
          }
          return outcome;
        });
        const what = `${method} ${profile.url}${path}`;
        const remedy = (error: GatewayError) => remedyFor(error, name, first, profile.url);
        if (isAnswered(outcomes)) return speedFinding(`gateway ${name}`, what, outcomes, usual[name] ?? null);
        return findingOf(`gateway ${name}`, what, outcomes, remedy, cards.length > 0);
      }),
    ),
  );
  return [...findings, ...(await totalFindings(profile, cards, deps))];
}

/**
 * Warns about allowances that can never be exceeded. If usage is computed as total minus remaining, a card never uses more than
 * the total, so with an allowance as high as the total it is never over its package. Only a call shows the vendor's total of a
 * card.
 */
async function totalFindings(
  profile: GatewayConfig,
  cards: readonly ProbedCard[],
  deps: TrialDeps,
): Promise<Finding[]> {
  const { flow } = profile.interfaces;
  if (flow?.reading?.kind !== 'remainder' || typeof profile.module?.read === 'function') return [];
  const { total, unit, unitValue = null } = flow.reading;
  const reading = { kind: 'megabytes', value: total, unit, unitValue } as const;
  const answers = new AnswerReader({ ...profile, ...flow, reading });
  const check = 'gateway totals';
  for (const card of cards) {
    let body = '';
    const outcome = await byHand(
      profile,
      deps,
      (call) => call('flow', card),
      (trace) => {
        body = trace.body;
      },
    );
    if (card.allowanceMb === null || outcome instanceof GatewayError) continue;
    const totalMb = totalIn(answers, body, card.iccid);
    if (totalMb === null) continue;
    const words = `card ${card.cardId} has an allowance of ${card.allowanceMb} MB and a total of ${totalMb} MB at the gateway`;
    if (card.allowanceMb < totalMb) return [ok(check, words)];
    const detail = `${words}: its usage never exceeds the total, so it is never over its package and never stopped`;
    const hint = 'import an allowance_mb below the total: docs/gateways.md, step 3';
    return [warning(check, detail, { hint, command: 'cardpoll cards import FILE' })];
  }
  return [];
}

/** @returns null: the answer has no total, for example of a card for which the profile has `missing_value`. */
function totalIn(answers: AnswerReader, body: string, iccid: string): number | null {
  try {
    return Number(answers.read(body)(iccid));
  } catch {
    return null;
  }
}

/** Makes one call if it succeeds, or two if the first is slow. After a failure the calls continue until most of them agree. */
async function enoughCalls(usualMs: number | null, call: () => Promise<Outcome>): Promise<Outcomes> {
  const calls: [Outcome, ...Outcome[]] = [await call()];
  if (isAnswered(calls) && isSlow(calls[0].durationMs, usualMs)) calls.push(await call());
  const failures = () => calls.filter((outcome) => outcome instanceof GatewayError).length;
  while (failures() > 0 && failures() < DECIDING && calls.length - failures() < DECIDING)
    calls.push(await call());
  return calls;
}

function isAnswered(outcomes: Outcomes): outcomes is readonly [GatewayAnswer, ...GatewayAnswer[]] {
  return outcomes.every((outcome) => !(outcome instanceof GatewayError));
}

/** Judges by the fastest of the calls. */
function speedFinding(
  check: string,
  what: string,
  answers: readonly GatewayAnswer[],
  usualMs: number | null,
): Finding {
  const fastest = Math.min(...answers.map(({ durationMs }) => durationMs));
  const detail = `${what}: answers in ${fastest} ms`;
  if (!isSlow(fastest, usualMs)) return ok(check, detail);
  const normal = usualMs === null ? 'normal is below 500 ms' : `usually ${Math.round(usualMs)} ms`;
  return warning(check, `${detail}, ${normal}`, { hint: 'ask the operator of the gateway' });
}

function findingOf(
  check: string,
  what: string,
  outcomes: Outcomes,
  remedyOf: (error: GatewayError) => Remedy,
  isKnown: boolean,
): Finding {
  const failures = outcomes.filter((outcome) => outcome instanceof GatewayError);
  const last = failures.at(-1) as GatewayError;
  const remedy = remedyOf(last);
  if (failures.length < DECIDING) {
    const share = `${failures.length} of ${outcomes.length} calls failed`;
    return warning(check, `${what}: ${share}: ${last.message}`, remedy);
  }
  const detail = `${what}: ${last.message}`;
  if (last.failure === 'backpressure') return warning(check, detail, remedy);
  // An envelope with another code speaks the profile; a bare 4xx may come from a web server that does not know it.
  if (last.failure === 'business') return isKnown ? warning(check, detail, remedy) : ok(check, detail);
  if (last.failure !== 'card' || isKnown) return failed(check, detail, remedy);
  return unknown(check, `${detail}, for a card that does not exist`, {
    hint: 'import cards, or fix the connection to PostgreSQL, and run the doctor again',
    command: 'cardpoll cards import FILE',
  });
}

const OVERLOADED = 'the gateway is slow or refuses calls: it may get more than it can take';
const HINTS: Partial<Record<GatewayFailure, string>> = {
  connect:
    'no connection: is the gateway running, is gateway.url right, and does the network let the connection through?',
  network: 'the gateway or a device before it breaks the connection: ask the operator of the gateway',
  timeout: OVERLOADED,
  backpressure: OVERLOADED,
  auth: "the gateway does not accept the credentials: compare them with the gateway operator's",
  http: 'the gateway reports an error of its own: ask its operator',
  no_vendor_id: 'import the ids by which the vendor knows the cards, in the column vendor_id',
  business: 'the gateway answers, but not for these cards: compare their iccids with what the gateway knows',
};
const OTHER = 'compare gateway.url and gateway.interfaces with what the gateway offers';

type Remedy = Pick<Finding, 'hint' | 'command'>;

/** What an operator can do, by the cause. @param url base URL of the gateway, without credentials */
function remedyFor(error: GatewayError, name: InterfaceName, { iccid }: CalledCard, url: string): Remedy {
  // The gateway is not the cause.
  if (/^(no token|module )/.test(error.message) || error.message.endsWith(ALSO_WHEN_NEW))
    return { hint: adviceFor(name, error, null), command: `cardpoll gateway try --iccid ${iccid}` };
  const isExplained =
    tlsFaultOf(error.cause) !== null || (error.failure === 'connect' && namesProxy(error.message));
  const hint = isExplained ? adviceFor(name, error, null) : (HINTS[error.failure] ?? OTHER);
  const command = hint === OVERLOADED ? 'cardpoll concurrency advise' : `curl -siv ${url}`;
  return { hint, command };
}
