// Why a card is or is not polled: what is said in each state, and how long a wait is expected to take.
import { describe, expect, it } from 'vitest';
import { nextDueAt, stepsOf } from '../../../../src/domain/schedule/phase.ts';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { noWorkerWords } from '../../../../src/health/fleet-faults.ts';
import { type TaskFacts, taskExplanationOf } from '../../../../src/operations/explain/task-explanation.ts';
import type { RingState } from '../../../../src/store/ports/live/rings.ts';
import type { CardPlace } from '../../../../src/store/ports/live/work-queue.ts';

/** The ring is at its phase: a whole number of its intervals. */
const NOW = 976_563 * 1_024_000;
const CARD = { cardId: 42, carrierId: 1, realNameVerified: false, lastPolledAtMs: NOW - 60_000 };

const config = (id: number, over: Partial<PollingConfig> = {}): PollingConfig => ({
  id,
  name: `config ${id}`,
  taskType: 'realname',
  cardCondition: 'any',
  carrierId: null,
  intervalSeconds: 1_024,
  priority: 10,
  status: 1,
  ...over,
});

const ring = (over: Partial<RingState> = {}): RingState => ({
  configId: 1,
  taskType: 'realname',
  intervalMs: 1_024_000,
  anchorMs: NOW,
  cursor: 0,
  buckets: 1_024,
  split: 0,
  generation: 1,
  members: 102_400,
  selection: '',
  enabled: true,
  loaded: true,
  building: null,
  skippedRevolutions: 0,
  achievedIntervalMs: null,
  lapStartedAtMs: null,
  joinedAfterId: 0,
  ...over,
});

const place = (over: Partial<CardPlace> = {}): CardPlace => ({
  queued: null,
  running: null,
  retry: null,
  failuresInARow: 0,
  manual: { waiting: null, running: false },
  ...over,
});

const counts = (over: Partial<TaskFacts['counts']> = {}): TaskFacts['counts'] => ({
  queueLength: 0,
  due: 0,
  waitedMs: 0,
  retryDue: 0,
  backoff: 0,
  inFlight: 0,
  manualLength: 0,
  maxConcurrency: 100,
  effectiveConcurrency: 100,
  leaderLimit: null,
  inForce: true,
  ...over,
});

const NO_POLLS = {
  succeeded: 0,
  failed: 0,
  durationMs: 0,
  succeededMs: 0,
  implausible: 0,
  counters: 0,
  fallen: 0,
  seconds: 300,
  durations: {},
  reasons: {},
  carriers: new Map(),
};

const READING: TaskFacts['reading'] = {
  total: 0,
  succeeded: 0,
  failed: 0,
  durationMs: 0,
  backpressure: 0,
  timeouts: 0,
  succeededMs: 0,
  limitReached: 0,
  window: NO_POLLS,
  now: NO_POLLS,
  lately: NO_POLLS,
  recent: { polls: 1_000, succeeded: 1_000, seconds: 10, durations: {} },
};

const LOADED: TaskFacts['init'] = { status: 'completed', percent: 100, etaSeconds: null };

function explain(over: Partial<TaskFacts> = {}) {
  const configs = [config(1)];
  return taskExplanationOf({
    offered: true,
    taskType: 'realname',
    card: CARD,
    usage: null,
    stopWords: [],
    nowMs: NOW,
    configs,
    taking: configs[0] ?? null,
    rings: [ring()],
    member: true,
    place: place(),
    counts: counts(),
    reading: READING,
    pauses: [],
    breakers: [],
    leastIntervalSeconds: 0,
    isTriggered: false,
    heldBy: null,
    paceWords: null,
    workers: 1,
    init: LOADED,
    lastFailure: null,
    ...over,
  });
}

/** A ring whose cursor is before the card's bucket and should have passed it `ms` ago. */
function lagging(ms: number, members = 102_400): RingState {
  let late = ring({ members, anchorMs: NOW - 1_024_000 });
  // Where it is not at its phase, it turns at another pace.
  for (let turn = 0; turn < 60; turn += 1)
    late = { ...late, anchorMs: late.anchorMs + (NOW - ms - nextDueAt(late, CARD.cardId)) / 2 };
  return late;
}

describe('a card on schedule', () => {
  it('is due when its ring says so', () => {
    const due = nextDueAt(ring(), CARD.cardId);
    const told = explain();
    expect(told).toMatchObject({
      state: 'scheduled',
      text: `is due in ${Math.ceil((due - NOW) / 60_000)} min`,
      command: null,
      overdueSeconds: null,
      cardsBefore: null,
    });
    expect(told.nextDueAt).toEqual(new Date(due));
    expect(told.ring).toEqual({
      bucket: (due - NOW) / 1_000,
      buckets: stepsOf(ring()),
      member: true,
    });
  });

  it('waits behind what is queued and what its late ring owes before it', () => {
    const late = lagging(38_000);
    // From the cursor at 0 to the bucket of the card: so many cards of the ring come first.
    const own = Math.round((102_400 * (nextDueAt(late, CARD.cardId) - late.anchorMs)) / 1_024_000);
    const told = explain({ rings: [late], counts: counts({ due: 500 }) });
    expect(told.cardsBefore).toBe(500 + own);
    expect(told.expectedInSeconds).toBe(Math.ceil((500 + own) / 100));
    expect(told).toMatchObject({ state: 'due', overdueSeconds: 38, command: 'cardpoll concurrency advise' });
    expect(told.text).toMatch(/^is overdue 38 s: [\d,]+ cards are before it, about \d+ min$/);
  });

  it('knows its rank once it is queued', () => {
    const queued = { dueAtMs: NOW - 38_000, before: 10_434 };
    expect(explain({ place: place({ queued }), counts: counts({ due: 99_999 }) })).toMatchObject({
      state: 'due',
      text: 'is overdue 38 s: 10,434 cards are before it, about 105 s',
      cardsBefore: 10_434,
      expectedInSeconds: 105,
    });
  });

  it.each([
    [3, 'is overdue 2 s: 3 cards are before it in the retry lane, which gets a tenth of the slots'],
    [1, 'is overdue 2 s: 1 card is before it in the retry lane, which gets a tenth of the slots'],
  ])(
    'waits behind %i cards of the retry lane, not of the queue, after a poll that was too early',
    (before, text) => {
      const retry = { atMs: NOW - 2_000, before };
      expect(explain({ place: place({ retry }), counts: counts({ due: 5_000 }) })).toMatchObject({
        state: 'due',
        text,
        cardsBefore: before,
        expectedInSeconds: null,
      });
    },
  );

  it('shares the polls with manual work, half for each', () => {
    const queued = { dueAtMs: NOW - 1_000, before: 1_000 };
    const { expectedInSeconds } = explain({
      place: place({ queued }),
      counts: counts({ manualLength: 400 }),
    });
    expect(expectedInSeconds).toBe(14);
  });

  it('promises nothing while nothing is polled', () => {
    const queued = { dueAtMs: NOW - 60_000, before: 7 };
    const reading = { ...READING, recent: { polls: 0, succeeded: 0, seconds: 10, durations: {} } };
    expect(explain({ place: place({ queued }), reading })).toMatchObject({
      text: 'is overdue 60 s: 7 cards are before it, but none was polled for 10 s',
      expectedInSeconds: null,
      command: 'cardpoll doctor',
    });
  });

  it('is being polled, or its result is being written', () => {
    const running = { leaseEndsAtMs: NOW + 30_000, calling: true };
    expect(explain({ place: place({ running }) })).toMatchObject({ state: 'running', overdueSeconds: null });
    expect(explain({ place: place({ running: { ...running, calling: false } }) }).text).toMatch(/written/);
  });
});

describe('a card that no config polls', () => {
  it('says why each config does not take it', () => {
    const configs = [
      config(1, { carrierId: 2 }),
      config(2, { cardCondition: 'verified' }),
      config(3, { cardCondition: 'verified', carrierId: 3, status: 0 }),
    ];
    expect(explain({ configs, taking: null, member: false })).toMatchObject({
      state: 'unmatched',
      command: 'cardpoll configs',
      config: null,
      nextDueAt: null,
      otherConfigs: [
        { id: 1, reason: 'is for carrier 2, the card is of carrier 1' },
        { id: 2, reason: 'is for verified cards, the card is not verified' },
        { id: 3, reason: 'is for carrier 3, the card is of carrier 1' },
      ],
    });
  });

  it('says which config wins', () => {
    const configs = [config(1, { priority: 20 }), config(2, { priority: 5 }), config(3, { priority: 20 })];
    expect(explain({ configs, taking: configs[0] ?? null }).otherConfigs).toEqual([
      { id: 2, name: 'config 2', reason: 'has priority 5, less than 20' },
      {
        id: 3,
        name: 'config 3',
        reason: 'has the same priority 20, and the config with the lower id wins',
      },
    ]);
  });

  it.each([
    [{ cardCondition: 'not_verified' } as const, 'is for cards not verified, the card is verified'],
    [
      { cardCondition: 'verified', priority: 10 } as const,
      'has the same priority 10, and the config with the lower id wins',
    ],
    [{ carrierId: 1, priority: 9 }, 'has priority 9, less than 10'],
  ])('says of a verified card why %j does not take it', (differing, reason) => {
    const configs = [config(1), config(2, differing)];
    const card = { ...CARD, realNameVerified: true };
    expect(explain({ configs, taking: configs[0] ?? null, card }).otherConfigs).toEqual([
      { id: 2, name: 'config 2', reason },
    ]);
  });

  it('is not polled while its config is disabled; one that is queued already is', () => {
    const taking = config(1, { status: 0 });
    const disabled = { configs: [taking], taking, rings: [ring({ enabled: false })] };
    expect(explain(disabled)).toMatchObject({
      state: 'disabled',
      nextDueAt: null,
      command: 'cardpoll configs enable 1',
    });
    const queued = { dueAtMs: NOW - 1_000, before: 0 };
    expect(explain({ ...disabled, place: place({ queued }) }).state).toBe('due');
  });

  it.each([
    [{ status: 'running', percent: 43, etaSeconds: 130 }, /initialisation is at 43 %, 3 min left/, 'init'],
    [{ status: 'stuck' }, /makes no progress/, 'doctor'],
    [{ status: 'pending' }, /has not begun/, 'init'],
    [{ status: 'completed' }, /not in the schedule/, 'init rebuild'],
  ] as const)('is not in the schedule while %j', (init, text, command) => {
    const told = explain({ member: false, init: { ...LOADED, ...init } });
    expect(told).toMatchObject({ state: 'not_loaded', nextDueAt: null, command: `cardpoll ${command}` });
    expect(told.text).toMatch(text);
  });
});

describe('a card held back', () => {
  it('by a pause', () => {
    const pause = {
      taskType: 'realname',
      source: 'operator',
      by: 'ops',
      reason: 'maintenance',
      since: new Date(NOW - 1),
      until: new Date(NOW + 600_000),
      maintenanceId: null,
    } as const;
    expect(explain({ pauses: [pause] })).toMatchObject({
      state: 'paused',
      text: 'is paused by ops for 10m more: maintenance',
      command: 'cardpoll resume realname',
    });
    expect(explain({ pauses: [{ ...pause, maintenanceId: 3 }] })).toMatchObject({
      state: 'paused',
      text: 'is paused by maintenance window 3 for 10m more (ops: maintenance)',
      command: 'cardpoll maintenance cancel 3',
    });
  });

  it('by the gate of every worker', () => {
    expect(explain({ heldBy: 'results wait for PostgreSQL or Redis' })).toMatchObject({
      state: 'held',
      text: 'is held back: results wait for PostgreSQL or Redis',
      command: 'cardpoll doctor',
    });
  });

  it('by a breaker', () => {
    const breaker = {
      interface: 'gateway',
      breaker: 'open',
      since: new Date(NOW - 180_000),
      reason: 'ECONNREFUSED',
      nextProbeAt: new Date(NOW + 12_000),
      instances: 2,
    } as const;
    expect(explain({ breakers: [breaker] })).toMatchObject({
      state: 'held',
      text: 'the gateway is held back for 3 min: ECONNREFUSED, next probe in 12 s',
    });
  });

  it('because no instance polls', () => {
    expect(explain({ workers: 0 })).toMatchObject({
      state: 'held',
      command: 'cardpoll daemon --roles worker',
    });
  });
});

describe('a failing card', () => {
  const lastFailure = {
    at: new Date(NOW - 5_000),
    reason: 'timeout',
    message: 'no answer within the deadline',
    durationMs: 5_000,
    attempts: 3,
  };

  it('waits for its next try', () => {
    const retry = { atMs: NOW + 12_000, before: 5 };
    expect(explain({ place: place({ retry, failuresInARow: 3 }), lastFailure })).toMatchObject({
      state: 'backoff',
      text: 'failed 3 times in a row (timeout): next try in 12 s',
      nextDueAt: new Date(retry.atMs),
      lastFailure: { ...lastFailure, nextTryAt: new Date(retry.atMs) },
    });
  });

  it('waits for its turn among the failing', () => {
    const retry = { atMs: NOW - 1_000, before: 1_500 };
    expect(explain({ place: place({ retry, failuresInARow: 1 }) }).text).toBe(
      'failed once: its next try is due, with 1,500 failing cards before it and a tenth of the slots for them',
    );
  });

  it.each<[CardPlace['retry'], RegExp]>([
    [{ atMs: NOW + 12_000, before: 5 }, /next try in 12 s; carrier 1: 96 % of the polls fail$/],
    [{ atMs: NOW - 1_000, before: 5 }, /a tenth of the slots for them; carrier 1: 96 % of the polls fail$/],
    [null, /at its regular time, in \d+ min; carrier 1: 96 % of the polls fail$/],
  ])('is of a carrier that fails far more than the others: %j', (retry, text) => {
    const carriers = new Map([
      [1, { polls: 100, failed: 96 }],
      [2, { polls: 100, failed: 90 }],
    ]);
    const window = { ...READING.window, succeeded: 814, failed: 186, carriers };
    const failing = { place: place({ retry, failuresInARow: 9 }), reading: { ...READING, window } };
    expect(explain(failing).text).toMatch(text);
    const ofOther = { ...CARD, carrierId: 3 };
    expect(explain({ ...failing, card: ofOther }).text).not.toContain('carrier');
  });

  it('is left to its ring', () => {
    const told = explain({ place: place({ failuresInARow: 9 }) });
    expect(told.state).toBe('backoff');
    expect(told.text).toMatch(/^failed 9 times in a row: polled again at its regular time, in \d+ min$/);
  });

  it('waits for a late ring as any card does', () => {
    const told = explain({ place: place({ failuresInARow: 9 }), rings: [lagging(38_000)] });
    expect(told).toMatchObject({ state: 'due', overdueSeconds: 38, command: 'cardpoll concurrency advise' });
    expect(told.text).toMatch(
      /^is overdue 38 s: [\d,]+ cards are before it, about \d+ min; failed 9 times in a row$/,
    );
  });

  it('is in the queue after its worker has died', () => {
    const queued = { dueAtMs: NOW - 1_000, before: 0 };
    expect(explain({ place: place({ queued, failuresInARow: 1 }), lastFailure })).toMatchObject({
      state: 'due',
      text: 'is overdue 1 s and next; failed once (timeout)',
      command: 'cardpoll stats failures',
    });
  });
});

it('mentions a manual trigger, whatever the schedule does', () => {
  const manual = { waiting: { before: 3 }, running: false };
  expect(explain({ place: place({ manual }) }).text).toMatch(
    /^is due in .*; a manual trigger polls it too, 3 entries before it$/,
  );
});

it('says until when a manual trigger waits that comes too early', () => {
  const limited = { leastIntervalSeconds: 900, isTriggered: true };
  const next = (ms: number) =>
    new RegExp(`too early for its manual trigger, next at ${new Date(ms).toISOString()}`);
  expect(explain(limited).text).toMatch(next(NOW - 60_000 + 900_000));
  expect(explain(limited).text).toMatch(/: the gateway allows one poll every 15 min$/);
  const lastFailure = {
    at: new Date(NOW - 1_000),
    reason: 'timeout',
    message: '',
    durationMs: 1,
    attempts: 1,
  };
  expect(explain({ ...limited, lastFailure }).text).toMatch(next(NOW - 1_000 + 900_000));
  const old = { ...CARD, lastPolledAtMs: NOW - 900_000 };
  for (const over of [{ ...limited, card: old }, { leastIntervalSeconds: 900 }, { isTriggered: true }]) {
    expect(explain(over).text).not.toContain('too early');
  }
});

it('says that calls wait for a rate limit', () => {
  const { text, command } = explain({
    place: place({ queued: { dueAtMs: NOW - 60_000, before: 5_000 } }),
    paceWords: 'calls wait for the rate limit of 50 a second',
  });
  expect(text).toContain(
    '5,000 cards are before it, and calls wait for the rate limit of 50 a second, about',
  );
  expect(command).toBe('cardpoll configs');
});

it('finds nothing wrong where a slow rate limit allows no poll for ten seconds', () => {
  const { text, command } = explain({
    place: place({ queued: { dueAtMs: NOW - 60_000, before: 7 } }),
    paceWords: 'calls wait for the rate limit of 2 a minute',
    reading: { ...READING, recent: { polls: 0, succeeded: 0, seconds: 10, durations: {} } },
  });
  expect(text).toBe(
    'is overdue 60 s: 7 cards are before it, and calls wait for the rate limit of 2 a minute',
  );
  expect(command).toBe('cardpoll configs');
});

describe('the sentences about a card', () => {
  const PAUSE = {
    taskType: 'realname',
    source: 'operator',
    by: 'ops',
    reason: '',
    maintenanceId: null,
  } as const;
  const BREAKER = { interface: 'flow', breaker: 'open', instances: 1 } as const;
  const queued = (lateMs: number, before: number) => place({ queued: { dueAtMs: NOW - lateMs, before } });
  const disabled = config(1, { status: 0 });
  const unsaid = { since: null, reason: null, nextProbeAt: null };

  it.each<[string, Partial<TaskFacts>]>([
    ['is being polled now', { place: place({ running: { leaseEndsAtMs: NOW, calling: true } }) }],
    ['is being polled now', { place: place({ manual: { waiting: null, running: true } }) }],
    ['no realname config matches it', { taking: null }],
    ['config 1 (config 1) matches it, but is disabled', { taking: disabled }],
    [
      'config 1 (config 1) was enabled, but its schedule is not built yet',
      { rings: [ring({ enabled: false })] },
    ],
    ['config 1 (config 1) was enabled, but its schedule is not built yet', { rings: [] }],
    [
      'is not loaded yet: initialisation is at 43 %',
      { member: false, init: { ...LOADED, status: 'running', percent: 43 } },
    ],
    [
      'is paused by ops for 9s more',
      { pauses: [{ ...PAUSE, since: new Date(NOW), until: new Date(NOW + 9_000) }] },
    ],
    ['interface flow is held back', { breakers: [{ ...BREAKER, ...unsaid }] }],
    [noWorkerWords(null).text, { workers: 0 }],
    [
      'failed 2 times in a row: next try in 1 s',
      { place: place({ failuresInARow: 2, retry: { atMs: NOW + 1, before: 0 } }) },
    ],
    [
      'failed 2 times in a row: its next try is due, with 1 failing card before it and a tenth of the slots for them',
      { place: place({ failuresInARow: 2, retry: { atMs: NOW, before: 1 } }) },
    ],
    ['is due now and next', { place: queued(0, 0) }],
    ['is due now and next', { place: queued(999, 0) }],
    ['is due in 1 s', { place: place({ retry: { atMs: NOW + 1_000, before: 0 } }) }],
    ['is due now and next', { place: place({ retry: { atMs: NOW, before: 0 } }) }],
    ['is overdue 1 s and next', { place: queued(1_000, 0) }],
    ['is due now: 1 card is before it, about 1 s', { place: queued(0, 1) }],
    [
      'is due now and next; a manual trigger polls it too, 1 entry before it',
      { place: { ...queued(0, 0), manual: { waiting: { before: 1 }, running: false } } },
    ],
  ])('%s', (text, over) => {
    expect(explain(over).text).toBe(text);
  });

  it('comes with what to type, unless it is next within a second', () => {
    expect(explain({ place: queued(0, 100) }).command).toBeNull();
    expect(explain({ place: queued(0, 101) })).toMatchObject({
      state: 'due',
      command: 'cardpoll concurrency advise',
    });
    const failing = { failuresInARow: 1, retry: { atMs: NOW, before: 1 } };
    expect(explain({ place: place(failing) })).toMatchObject({
      state: 'backoff',
      command: 'cardpoll stats failures',
    });
    expect(explain({ breakers: [{ ...BREAKER, ...unsaid }] }).command).toBe('cardpoll doctor');
    expect(explain({ rings: [ring({ enabled: false })] })).toMatchObject({
      state: 'not_loaded',
      command: 'cardpoll doctor',
    });
  });

  it('is by its own ring alone, built, enabled and of an enabled config', () => {
    const own = explain();
    const other = ring({ configId: 2, intervalMs: 5_000 });
    expect(explain({ rings: [other, ring()] })).toEqual(own);
    expect(own.config).toEqual({ id: 1, name: 'config 1', intervalSeconds: 1_024 });
    expect(explain({ rings: [ring({ generation: 0 })] })).toMatchObject({ ring: null, nextDueAt: null });
    expect(explain({ rings: [ring({ enabled: false })] })).toMatchObject({
      ring: { member: true },
      nextDueAt: null,
    });
    expect(explain({ configs: [disabled], taking: disabled }).nextDueAt).toBeNull();
  });

  it('has no delay while it runs, or has nothing to wait for', () => {
    const running = { leaseEndsAtMs: NOW, calling: true };
    expect(explain({ place: { ...queued(9_000, 0), running } }).overdueSeconds).toBeNull();
    expect(explain({ place: queued(9_000, 0) }).overdueSeconds).toBe(9);
    expect(explain({ place: queued(0, 0) }).overdueSeconds).toBeNull();
    expect(explain({ taking: null })).toMatchObject({ nextDueAt: null, overdueSeconds: null });
  });

  it('says what failed last, also where no further try is planned', () => {
    const lastFailure = { at: new Date(NOW), reason: 'http', message: 'x', durationMs: 1, attempts: 9 };
    expect(explain({ lastFailure }).lastFailure).toEqual({ ...lastFailure, nextTryAt: null });
    expect(explain().lastFailure).toBeNull();
  });
});

it.each([
  ['nothing to wait for', 0, 50, 0, 0],
  ['nothing that moves', 10, 0, 0, null],
  ['the schedule alone', 100, 0, 20, 5],
  ['some manual work, polled in between', 100, 40, 20, 7],
  ['much manual work, which takes half of the polls', 100, 4_000, 20, 10],
])('expects a poll in its time with %s', (_, before, manualLength, perSecond, seconds) => {
  const queued = { dueAtMs: NOW - 1_000, before };
  const recent = { ...READING.recent, polls: 10 * perSecond, seconds: 10 };
  const { expectedInSeconds } = explain({
    place: place({ queued }),
    counts: counts({ manualLength }),
    reading: { ...READING, recent },
  });
  expect(expectedInSeconds).toBe(seconds);
});
