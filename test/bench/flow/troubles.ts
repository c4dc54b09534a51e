// What a gateway can be troubled by, as plain functions from a call to its answer. Used by the scenarios of the flow bench.
import type { Answer, Trouble } from './troubled-gateway.ts';

/** How a call fails, by the name that --kinds takes. */
export const FAILURES = {
  '500': { status: 500 },
  '503': { status: 503 },
  business: { status: 200, body: '{"code":404,"msg":"unknown card","data":null}' },
  hang: 'hang',
  reset: 'reset',
  '429': { status: 429 },
  '429-second': { status: 429, headers: { 'retry-after': '1' } },
  '429-seconds': { status: 429, headers: { 'retry-after': '5' } },
  '429-day': { status: 429, headers: { 'retry-after': '86400' } },
} as const satisfies Record<string, Answer>;

export type FailureKind = keyof typeof FAILURES;

/** A number from 0 to 1 that belongs to a card and has nothing to do with its place in the ring or in the table. */
function numberOfCard(cardId: number): number {
  let hash = Math.imul(cardId ^ 0x5bd1e995, 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Some cards fail always, in every interface. */
export function failingCards(fails: (cardId: number) => boolean, kind: FailureKind): Trouble {
  return ({ cardId }) => (fails(cardId) ? FAILURES[kind] : 'good');
}

/** A share of the cards, spread over all of them. */
export function isScattered(share: number): (cardId: number) => boolean {
  return (cardId) => numberOfCard(cardId) < share;
}

/** Cards fail until they heal one by one, evenly from `fromMs` to `toMs` after the trouble began. */
export function healingCards(
  share: number,
  kind: FailureKind,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): Trouble {
  return ({ cardId, atMs }) => {
    const place = numberOfCard(cardId) / share;
    return place < 1 && atMs < fromMs + place * (toMs - fromMs) ? FAILURES[kind] : 'good';
  };
}

/** Any call fails with this probability. */
export function failingByChance(share: number, kind: FailureKind): Trouble {
  return () => (Math.random() < share ? FAILURES[kind] : 'good');
}

export function deadInterface(name: string, kind: FailureKind): Trouble {
  return ({ interfaceName }) => (interfaceName === name ? FAILURES[kind] : 'good');
}

/** Every second second, beginning with a bad one. */
export function badSeconds(kind: FailureKind): Trouble {
  return ({ atMs }) => (Math.floor(atMs / 1_000) % 2 === 0 ? FAILURES[kind] : 'good');
}

export function failingFirstCalls(kind: FailureKind): Trouble {
  return ({ callOfConnection }) => (callOfConnection === 1 ? FAILURES[kind] : 'good');
}

/** So many calls a second over all interfaces, and as many at once after a pause; the others fail. */
export function allowedRate(callsPerSecond: number, kind: FailureKind): Trouble {
  let tokens = callsPerSecond;
  let countedAtMs = 0;
  return ({ atMs }) => {
    tokens = Math.min(callsPerSecond, tokens + ((atMs - countedAtMs) / 1_000) * callsPerSecond);
    countedAtMs = atMs;
    if (tokens < 1) return FAILURES[kind];
    tokens -= 1;
    return 'good';
  };
}
