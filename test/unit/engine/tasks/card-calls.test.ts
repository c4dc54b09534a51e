// The call that resumes a card: what is called, recorded and logged for every answer of the gateway and of the claim. On a
// real gateway, database and cache: test/integration/engine/tasks/package.test.ts.
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/domain/audit.ts';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { CardCalls, type CardCallsDeps } from '../../../../src/engine/tasks/card-calls.ts';
import { FollowUps } from '../../../../src/engine/tasks/follow-ups.ts';
import { Deadline } from '../../../../src/engine/work/task.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';
import type { ResumeClaim } from '../../../../src/store/ports/records/resume-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { ONE_CARD_A_CALL, PASS } from '../../../support/one-card-calls.ts';

const LEASE_MS = 15_000;
const CARD = { cardId: 7, iccid: '89860000000000000007', stopped: true } as Card;
const SAME = { card_id: 7, iccid: CARD.iccid, run_id: 'r' };

let clock: FakeClock;
let claim: ResumeClaim;
let claimTakesMs: number;
let gatherTakesMs: number;
/** What the gateway answers to start, and shows afterwards. */
let start: unknown;
let status: unknown;
let outcome: 'resumed' | 'already_running' | null;
let gaveUp: boolean;
let called: string[];
let asked: unknown[][];
let entries: AuditEntry[];
let logged: Array<Record<string, unknown>>;

beforeEach(() => {
  clock = new FakeClock('2026-11-15T00:00:00Z');
  claim = { state: 'granted', runId: 'r', attempt: 3 };
  [claimTakesMs, start, status, outcome] = [0, null, 'active', 'resumed'];
  gaveUp = false;
  gatherTakesMs = 0;
  [called, asked, entries, logged] = [[], [], [], []];
});

function make(isStopped: boolean, card = CARD): Promise<boolean | 'waiting'> {
  const noted =
    (what: string) =>
    async (...question: unknown[]) => {
      asked.push([what, ...question]);
      return gaveUp;
    };
  const deps: CardCallsDeps = {
    gateway: {
      ...ONE_CARD_A_CALL,
      gather: async () => {
        if (gatherTakesMs > 0) await clock.sleep(gatherTakesMs);
        return PASS;
      },
      call: async (name) => {
        called.push(name);
        const value = name === 'start' ? start : status;
        if (value instanceof Error) throw value;
        return { value: value as string, durationMs: 1 };
      },
      isStoppedStatus: (shown) => shown === 'stopped',
    },
    records: {
      resumes: {
        claim: async (...question) => {
          asked.push(['claim', ...question]);
          clock.advance(claimTakesMs);
          return claim;
        },
        complete: async (...question) => {
          asked.push(['complete', ...question]);
          return outcome === null ? null : ({ after: { outcome } } as unknown as AuditEntry);
        },
        acknowledge: noted('acknowledge'),
        abandon: noted('abandon'),
      },
      stops: {} as CardCallsDeps['records']['stops'],
    },
    reader: { forget: async () => {} },
    again: async (cardIds) => void asked.push(['again', cardIds]),
    audit: { log: (entry) => void entries.push(entry) },
    leaseMs: LEASE_MS,
    clock,
    log: pino({ base: null, timestamp: false }, { write: (line: string) => logged.push(JSON.parse(line)) }),
  };
  const call = new CardCalls(deps, new FollowUps(deps));
  return call.resume(
    card,
    '2026-11',
    isStopped,
    new Deadline(clock, clock.monotonic(), LEASE_MS, clock.now()),
  );
}

it('calls nothing for a card that waits in no run', async () => {
  claim = { state: 'none' };
  expect(await make(true)).toBe(false);
  expect([called, asked]).toEqual([[], [['claim', CARD, true, LEASE_MS]]]);
});

it.each(['granted', 'unresolved'] as const)(
  '%s: calls, and records what the gateway shows',
  async (state) => {
    claim = { state, runId: 'r', attempt: 3 };
    expect(await make(true)).toBe(true);
    expect(called).toEqual(['start', 'card_status']);
    expect(asked.slice(1)).toEqual([['complete', CARD, 'r', '2026-11']]);
    expect(entries).toHaveLength(1);
    expect(logged).toEqual([{ level: 30, ...SAME, msg: '复机' }]);
  },
);

it.each([
  ['running', [['complete', CARD, 'r', '2026-11']]],
  ['settling', []],
] as const)('calls nothing for a card that runs: %s', async (state, recorded) => {
  claim = { state, runId: 'r' };
  expect(await make(false)).toBe(true);
  expect(called).toEqual([]);
  expect(asked).toEqual([['claim', CARD, false, LEASE_MS], ...recorded]);
});

it.each<[string, typeof outcome, boolean, number]>([
  ['it was known as stopped and runs', 'already_running', true, 1],
  ['it was not known as stopped and was resumed', 'resumed', false, 1],
  ['it was not known as stopped and runs without a call', 'already_running', false, 0],
  ['another poll has recorded it', null, true, 0],
])('logs that a card was resumed: %s', async (_, recorded, stopped, lines) => {
  outcome = recorded;
  claim = { state: 'running', runId: 'r' };
  await make(false, { ...CARD, stopped });
  expect(logged).toHaveLength(lines);
});

it.each<[ResumeClaim, string]>([
  [{ state: 'claimed', runId: 'r' }, 'resume_in_progress'],
  [{ state: 'unconfirmed', runId: 'r' }, 'resume_unconfirmed'],
  [{ state: 'stopping', runId: 'r' }, 'stop_in_progress'],
  [{ state: 'other_iccid', runId: 'r' }, 'other_iccid'],
])('calls nothing on the answer %o', async (answer, code) => {
  claim = answer;
  await expect(make(true)).rejects.toMatchObject({ kind: 'busy', code });
  expect([called, asked.length]).toEqual([[], 1]);
});

it('makes no call when the lease is half over, and gives the claim back', async () => {
  claimTakesMs = LEASE_MS / 2;
  await expect(make(true)).rejects.toMatchObject({ failure: 'held' });
  expect(called).toEqual([]);
  expect(asked.at(-1)).toEqual(['abandon', 7, 'r', 3, 'the lease was over before the call', false]);
});

it('takes no acknowledgement for a resume', async () => {
  status = 'stopped';
  await expect(make(true)).rejects.toMatchObject({ kind: 'busy', code: 'resume_unconfirmed' });
  expect(asked.at(-1)).toEqual(['acknowledge', 7, 'r', 3]);
  expect(logged).toEqual([]);
});

it('does not take a resume for one without effect when the status question gets no answer', async () => {
  status = new GatewayError('timeout', 'timed out');
  await expect(make(true)).rejects.toBe(status);
  expect(asked).toEqual([['claim', CARD, true, LEASE_MS]]);
});

it.each([
  [
    'refuses the card',
    new GatewayError('business', 'no such card'),
    ['abandon', 7, 'r', 3, 'no such card', true],
  ],
  ['is busy', new GatewayError('backpressure', 'HTTP 429'), ['abandon', 7, 'r', 3, 'HTTP 429', false]],
  ['does not answer', new GatewayError('timeout', 'timed out'), ['claim', CARD, true, LEASE_MS]],
] as const)(
  'gives the claim back only for a call that certainly had no effect: the gateway %s',
  async (_, error, last) => {
    start = error;
    await expect(make(true)).rejects.toBe(error);
    expect(asked.at(-1)).toEqual(last);
  },
);

it('says when a card is given up', async () => {
  gaveUp = true;
  status = 'stopped';
  await expect(make(true)).rejects.toMatchObject({ code: 'resume_unconfirmed' });
  expect(logged).toEqual([{ level: 40, ...SAME, msg: 'resume failed, no more attempts' }]);
});

describe('a call that has to be waited for longer than the poll lasts', () => {
  async function late(): Promise<boolean | 'waiting'> {
    gatherTakesMs = 3_600_000;
    const made = make(true);
    await clock.run(3 * gatherTakesMs);
    return made;
  }

  it('is made after the poll, and asks for the status as long as it takes', async () => {
    expect(await late()).toBe('waiting');
    expect(called).toEqual(['start', 'card_status']);
    expect(asked.map(([what]) => what)).toEqual(['claim', 'complete']);
  });

  it('does not follow an earlier call of unknown outcome: the status that the poll found may be older', async () => {
    claim = { state: 'unresolved', runId: 'r', attempt: 3 };
    expect(await late()).toBe('waiting');
    expect(called).toEqual(['card_status']);
    expect(asked.map(([what]) => what)).toEqual(['claim', 'complete']);
  });

  it('is made by the next poll when that call had no effect', async () => {
    claim = { state: 'unresolved', runId: 'r', attempt: 3 };
    status = 'stopped';
    expect(await late()).toBe('waiting');
    expect(called).toEqual(['card_status']);
    expect(asked.slice(1)).toEqual([
      ['abandon', 7, 'r', 3, 'an earlier call had no effect', false],
      ['again', [7]],
    ]);
  });
});
