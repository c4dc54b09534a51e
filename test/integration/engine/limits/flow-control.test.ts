// Flow control in compressed time: what share of its healthy pace each interface keeps while the gateway is in trouble, as
// the gateway counts its good answers. npm test lives two nights, with a fleet of a third; npm run test:long
// all of them. Drawn nights: npm run prove.
import { afterEach, describe, expect, it } from 'vitest';
import { mix32 } from '../../../../src/domain/schedule/phase.ts';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import type { GatewayFailure } from '../../../../src/gateway/gateway.ts';
import {
  type Answer,
  type Behaviour,
  CompressedFleet,
  type CompressedFleetOptions,
} from '../../../support/compressed-fleet.ts';
import { describeLong, firstRows, sampled } from '../../../support/effort.ts';

const INTERFACES = ['realname', 'flow', 'card_status'] as const;
/** 200 polls a second and task type; 67 in npm test. */
const FLEET: CompressedFleetOptions = {
  taskTypes: TASK_TYPES,
  cards: sampled(2_000, 6_000),
  intervalSeconds: 30,
  limit: 100,
  buckets: 1_024,
};
const DELAY_MS = 20;
const HEALTHY: Behaviour = () => ({ delayMs: DELAY_MS });
const GOAL = 0.9;

let fleet: CompressedFleet | null = null;
afterEach(async () => {
  await fleet?.stop();
  fleet = null;
});

/** A fleet that has settled; it has not polled every card yet. */
async function start(options: Partial<CompressedFleetOptions> = {}, healthy = HEALTHY) {
  fleet = await CompressedFleet.start({ ...FLEET, ...options });
  fleet.behaviour = healthy;
  await fleet.time.run(15_000);
  return fleet;
}

/** A fleet that has polled every card, and its pace in the revolution of the rings that did so. */
async function startHealthy(options: Partial<CompressedFleetOptions> = {}, healthy = HEALTHY) {
  const polled = await start(options, healthy);
  return { polled, before: await measure(polled) };
}

/** @returns by interface, calls and good answers a second. */
async function measure(of: CompressedFleet, ms = 30_000) {
  const [calls, good] = [new Map<string, number>(), new Map<string, number>()];
  const count = (counts: Map<string, number>) => (name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  of.onCall = count(calls);
  of.onSuccess = count(good);
  await of.time.run(ms);
  const perSecond = (counts: Map<string, number>) =>
    INTERFACES.map((name) => ((counts.get(name) ?? 0) / ms) * 1_000);
  return { calls: perSecond(calls), good: perSecond(good) };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The share of its pace before that each interface has, `share` of which is possible. */
function ratios(before: readonly number[], now: readonly number[], share = 1): number[] {
  return now.map((rate, i) => rate / ((before[i] ?? 0) * share));
}

/** True for that share of the cards, always the same ones. */
const isOneOf = (share: number, cardId: number) => mix32(cardId ^ 0xca4d) % 1_000 < 1_000 * share;

/** Numbers in [0, 1), the same in every run. */
function drawing(): () => number {
  let state = 1;
  return () => {
    state = mix32(state + 0x9e3779b9);
    return (state >>> 0) / 2 ** 32;
  };
}

const FAILURES = {
  'HTTP 500': { failure: 'http' },
  'a business code': { failure: 'business' },
  'a time-out': { failure: 'timeout', delayMs: 5_000 },
  '429': { failure: 'backpressure' },
  '429 and an absurd Retry-After': { failure: 'backpressure', retryAfterMs: 300_000 },
} as const satisfies Record<string, Answer>;

it.each(
  firstRows(1, [
    [20, 'HTTP 500'],
    [70, 'a time-out'],
    [20, '429 and an absurd Retry-After'],
    [20, 'a business code'],
    [20, 'a time-out'],
    [20, '429'],
    [5, 'HTTP 500'],
    [5, '429'],
    [70, 'HTTP 500'],
    [70, '429'],
  ] satisfies Array<[number, keyof typeof FAILURES]>),
)(
  'where %i % of the cards fail with %s, every interface keeps the healthy pace',
  async (percent, failure) => {
    const { polled, before } = await startHealthy();
    // Cards of one delivery: their ids follow each other, so a ring brings them one after another.
    const fails = (id: number) => id <= (percent / 100) * FLEET.cards;
    polled.behaviour = (_name, id) => ({ delayMs: DELAY_MS, ...(fails(id) ? FAILURES[failure] : {}) });
    await polled.time.run(20_000);
    const { good } = await measure(polled);
    expect(Math.min(...ratios(before.good, good, 1 - percent / 100))).toBeGreaterThanOrEqual(GOAL);
    expect(polled.breakerChanges).toEqual([]);
  },
);

describeLong('random failures, whatever the load', () => {
  /** The limit is used up: half of the polls that are due are possible. */
  const BUSY = { limit: 20 };
  const SLOW_MS = 200;
  const randomly = (share: number, failure: GatewayFailure): Behaviour => {
    const draw = drawing();
    return () => (draw() < share ? { delayMs: SLOW_MS, failure } : { delayMs: SLOW_MS });
  };

  it.each([
    [30, 'backpressure', true],
    [30, 'http', true],
    [0.5, 'backpressure', false],
    [2, 'backpressure', true],
    [30, 'backpressure', false],
  ] as const)(
    '%d % (%s) leave the others their pace; after an incident: %s',
    async (percent, failure, afterIncident) => {
      const { polled, before } = await startHealthy(BUSY, () => ({ delayMs: SLOW_MS }));
      if (afterIncident) {
        polled.behaviour = () => ({ delayMs: SLOW_MS, failure: 'backpressure' });
        await polled.time.run(10_000);
      }
      polled.behaviour = randomly(percent / 100, failure);
      await polled.time.run(20_000);
      const { good } = await measure(polled, 60_000);
      expect(Math.min(...ratios(before.good, good, 1 - percent / 100))).toBeGreaterThanOrEqual(GOAL);
    },
  );

  it.each([6, 12])(
    '10 % leave no limits as low as an incident cut them that let %i calls pass',
    async (most) => {
      const { polled, before } = await startHealthy({ limit: 50 }, () => ({ delayMs: SLOW_MS }));
      polled.behaviour = (_name, _card, inFlight) =>
        inFlight > most ? { delayMs: SLOW_MS, failure: 'backpressure' } : { delayMs: SLOW_MS };
      await polled.time.run(60_000);
      polled.behaviour = randomly(0.1, 'backpressure');
      // 160 s since rings have absolute phases, 80 s before; the figure depends on the random numbers of the fleet.
      await polled.time.run(160_000);
      const { good } = await measure(polled, 60_000);
      // Cards that were refused many times in a row still wait.
      expect(Math.min(...ratios(before.good, good, 0.9))).toBeGreaterThanOrEqual(0.75);
    },
  );
});

describe('a dead interface', () => {
  it.each(
    firstRows(1, [
      ['429 and Retry-After', 3, { failure: 'backpressure', retryAfterMs: 5_000 }],
      ['no answer', 1, { failure: 'timeout', delayMs: 5_000 }],
      ['HTTP 500', 1, { failure: 'http' }],
      ['503', 1, { failure: 'backpressure' }],
      ['429 and Retry-After', 1, { failure: 'backpressure', retryAfterMs: 5_000 }],
      ['HTTP 500', 3, { failure: 'http' }],
    ] as Array<[string, number, Answer]>),
  )(
    '(%s, %i instances) gets one call a second, the others keep their pace, and it returns',
    async (_, instances, dead) => {
      const { polled, before } = await startHealthy({ instances });
      polled.behaviour = (name) => ({ delayMs: DELAY_MS, ...(name === 'flow' ? dead : {}) });
      // Each instance finds out by some thirty calls. Pauses of the gateway delay those of the last one.
      await polled.time.run(30_000);
      const { calls, good } = await measure(polled);
      expect(calls[1]).toBeLessThanOrEqual(1.05);
      expect(calls[1]).toBeGreaterThanOrEqual(0.1);
      const [realname = 0, , cardStatus = 0] = ratios(before.good, good);
      expect(Math.min(realname, cardStatus)).toBeGreaterThanOrEqual(GOAL);
      const open = polled.breakerChanges.filter((change) => change === 'flow open');
      expect(open.length).toBeGreaterThanOrEqual(1);
      expect(polled.breakerChanges.filter((change) => !change.startsWith('flow'))).toEqual([]);
      polled.behaviour = HEALTHY;
      await polled.time.run(20_000);
      expect(ratios(before.good, (await measure(polled)).good)[1]).toBeGreaterThanOrEqual(GOAL);
    },
  );
});

describeLong('an overloaded gateway', () => {
  /** Beyond its capacity calls take longer, beyond twice of it they are refused at once. */
  const bearing =
    (capacity: number, delayMs: number): Behaviour =>
    (_name, _card, inFlight) =>
      inFlight > 2 * capacity
        ? { delayMs: 2, failure: 'backpressure' }
        : { delayMs: delayMs * Math.max(1, inFlight / capacity) };

  /** 300 calls a second at the higher capacity, 900 are due. */
  const DELAY_OF_LOADED_MS = 200;

  it.each([3, 1])('is kept at its best throughput, in fair shares, by %i instances', async (instances) => {
    const polled = await start({ instances, intervalSeconds: 20 }, bearing(60, DELAY_OF_LOADED_MS));
    const best = (60 * 1_000) / DELAY_OF_LOADED_MS;
    for (const capacity of [60, 20, 60]) {
      polled.behaviour = bearing(capacity, DELAY_OF_LOADED_MS);
      await polled.time.run(20_000);
      const { good } = await measure(polled);
      expect(sum(good) / ((best * capacity) / 60), `capacity ${capacity}`).toBeGreaterThanOrEqual(GOAL);
      expect(Math.min(...good) / (sum(good) / 3), 'the least share').toBeGreaterThanOrEqual(0.5);
    }
  });

  it.each([1_000, undefined])(
    'an overloaded gateway that allows 20 calls a second serves all types (Retry-After: %s ms)',
    async (retryAfterMs) => {
      const polled = await start();
      let [tokens, at] = [20, polled.time.monotonic()];
      polled.behaviour = () => {
        const now = polled.time.monotonic();
        tokens = Math.min(20, tokens + ((now - at) * 20) / 1_000);
        at = now;
        if (tokens < 1)
          return { delayMs: DELAY_MS, failure: 'backpressure', ...(retryAfterMs && { retryAfterMs }) };
        tokens -= 1;
        return { delayMs: DELAY_MS };
      };
      await polled.time.run(30_000);
      // With limits of one or two calls shares even out over minutes.
      const { good } = await measure(polled, 180_000);
      expect(sum(good)).toBeGreaterThanOrEqual(GOAL * 20);
      expect(Math.min(...good), 'half of a fair third').toBeGreaterThanOrEqual(20 / 6);
    },
  );
});

/** Each takes most of a minute of computing. */
const NIGHTS: ReadonlyArray<readonly [string, () => Promise<void>]> = [
  [
    'cards that begin to fail half-way through a revolution, and heal one by one, hold up no other',
    async () => {
      const { polled, before } = await startHealthy({ instances: 3 });
      await polled.time.run(15_000);
      const from = polled.time.monotonic();
      const healed = (id: number) => polled.time.monotonic() - from > 20_000 + 10 * (id % 3_000);
      polled.behaviour = (_, id) =>
        isOneOf(0.3, id) && !healed(id) ? { delayMs: DELAY_MS, failure: 'http' } : { delayMs: DELAY_MS };
      await polled.time.run(20_000);
      const { good } = await measure(polled);
      expect(Math.min(...ratios(before.good, good, 0.7))).toBeGreaterThanOrEqual(GOAL);
      await polled.time.run(30_000);
      expect(Math.min(...ratios(before.good, (await measure(polled)).good))).toBeGreaterThanOrEqual(GOAL);
    },
  ],
  [
    'answers that always come too late: each interface gets one call a second, and returns',
    async () => {
      const { polled, before } = await startHealthy();
      polled.behaviour = () => ({ failure: 'timeout', delayMs: 60_000 });
      await polled.time.run(30_000);
      const { calls } = await measure(polled);
      expect(Math.max(...calls)).toBeLessThanOrEqual(1.05);
      polled.behaviour = HEALTHY;
      await polled.time.run(20_000);
      expect(Math.min(...ratios(before.good, (await measure(polled)).good))).toBeGreaterThanOrEqual(GOAL);
    },
  ],
  [
    'ten instances that join while an interface is dead send it some thirty calls each, then one a second together',
    async () => {
      const { polled, before } = await startHealthy();
      polled.behaviour = (name) => ({ delayMs: DELAY_MS, ...(name === 'flow' ? { failure: 'http' } : {}) });
      await polled.time.run(30_000);
      for (let i = 1; i <= 10; i += 1) await polled.join(`joined${i}`);
      const joining = await measure(polled, 20_000);
      expect(joining.calls[1]).toBeLessThanOrEqual((10 * (30 + 10) + 21) / 20);
      // The wall clock says nothing about the next call of the trickle.
      for (const stepMs of [3_600_000, -3_600_000]) {
        polled.time.set(polled.time.now() + stepMs);
        const { calls, good } = await measure(polled);
        expect(calls[1], `${stepMs} ms`).toBeLessThanOrEqual(1.05);
        const [realname = 0, , cardStatus = 0] = ratios(before.good, good);
        expect(Math.min(realname, cardStatus), `${stepMs} ms`).toBeGreaterThanOrEqual(GOAL);
      }
    },
  ],
  [
    'a gateway that refuses all and nothing by turns loses nothing, and gets more than half of what it answers',
    async () => {
      const { polled, before } = await startHealthy({ limit: 20 });
      polled.behaviour = () =>
        Math.floor(polled.time.monotonic() / 1_000) % 2 === 0
          ? { delayMs: DELAY_MS, failure: 'backpressure' }
          : { delayMs: DELAY_MS };
      await polled.time.run(20_000);
      const { good } = await measure(polled, 60_000);
      expect(Math.min(...ratios(before.good, good, 0.5))).toBeGreaterThanOrEqual(0.5);
      polled.behaviour = HEALTHY;
      await polled.time.run(60_000);
      expect(Math.min(...ratios(before.good, (await measure(polled)).good))).toBeGreaterThanOrEqual(GOAL);
    },
  ],
  [
    'a gateway that answers nothing in time under full load gets the load that it can answer',
    async () => {
      const polled = await start();
      const [capacity, inTimeMs] = [2, 5_000];
      polled.behaviour = (_name, _card, inFlight) => {
        const delayMs = (DELAY_MS * Math.max(capacity, inFlight) * 5) / capacity;
        return delayMs > inTimeMs ? { failure: 'timeout', delayMs: inTimeMs } : { delayMs };
      };
      await polled.time.run(60_000);
      const { good } = await measure(polled, 60_000);
      // Why it is not the whole capacity: docs/decisions/0028-flow-control.md.
      expect(sum(good) / (capacity * (1_000 / (5 * DELAY_MS)))).toBeGreaterThanOrEqual(0.75);
    },
  ],
];

it.each(firstRows(0, NIGHTS))('%s', (_, night) => night());
