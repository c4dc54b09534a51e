// The pace over steps of the store's clock, drawn at random, with many takers that give back what they do not use. Used grants stay
// within the rate and the capacity of the bucket, measured by another clock; and the pace goes on after each step.
import { describe, expect, it } from 'vitest';
import { bucketOf } from '../../../src/domain/limits/rate-limit.ts';
import { mix32 } from '../../../src/domain/schedule/phase.ts';
import { TASK_TYPES, TASKS } from '../../../src/domain/task-type.ts';
import type { LiveStore } from '../../../src/store/ports/live/live-store.ts';
import { firstRows } from '../../support/effort.ts';
import { freshRedis } from '../../support/fresh-stores.ts';
import { GrantRecord } from '../../support/grant-record.ts';
import { openTimedRedisLiveStore } from '../../support/timed-redis.ts';
import { openPacedLiveStore } from '../../support/virtual-pace.ts';
import { waitFor } from '../../support/wait-for.ts';

const LIMIT = { id: 'all/second', interfaces: null, perSecond: 100, burst: 20 };
const BUCKET = bucketOf(LIMIT);
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
/** A step forward by up to three seconds cannot be told from time that passed. */
const TAKEN_FOR_TIME_MS = 3 * SECOND;
const STEPS = [-HOUR, HOUR, -24 * HOUR, 30 * SECOND, -300, -900, -5 * SECOND, 400, 2_000, 4 * SECOND];
const TURNS = 25;
const BETWEEN_STEPS_MS = 250;

async function redis(): Promise<{ store: LiveStore; setAhead(ms: number): void }> {
  let aheadMs = 0;
  const { url } = await freshRedis();
  const store = openTimedRedisLiveStore(url, () => Date.now() + aheadMs);
  const setAhead = (ms: number) => {
    aheadMs = ms;
  };
  return { store, setAhead };
}

async function embedded(): Promise<{ store: LiveStore; setAhead(ms: number): void }> {
  let aheadMs = 0;
  const clock = {
    now: () => Date.now() + aheadMs,
    monotonic: () => performance.now(),
    sleep: async () => {},
  };
  const setAhead = (ms: number) => {
    aheadMs = ms;
  };
  return { store: openPacedLiveStore({ clock }), setAhead };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.each([
  ['Redis', redis],
  ['embedded', embedded],
])('a clock that steps: %s', (_, open) => {
  it.each(firstRows(1, [1, 2]))('drawn from seed %i', async (seed) => {
    const { store, setAhead } = await open();
    let drawn = seed;
    const random = () => {
      drawn = mix32(drawn + 0x9e3779b9);
      return drawn / 2 ** 32;
    };
    const record = new GrantRecord();
    const forward: Array<{ at: number; ms: number }> = [];
    let ended = false;
    const takers = [...TASK_TYPES, ...TASK_TYPES].map(async (participant) => {
      const { interface: interfaceName } = TASKS[participant];
      while (!ended) {
        const from = performance.now();
        const request = { participant, interfaceName, calls: 1 + Math.floor(8 * random()), limits: [LIMIT] };
        const grant = await store.pace.take(request);
        const to = performance.now();
        const unused = random() < 0.5 ? 0 : Math.floor((grant.calls + 1) * random());
        if (unused > 0) await store.pace.giveBack(request, grant, unused);
        record.add(participant, grant.calls - unused, from, to);
        await pause(Math.min(grant.waitMs, 20 * random()));
      }
    });
    let aheadMs = 0;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const before = record.total;
      await pause(BETWEEN_STEPS_MS);
      // At once, unless the machine is busy: a step that holds up the grants for its whole length shows in the sum below.
      await waitFor(() => record.total > before);
      const ms = STEPS[Math.floor(STEPS.length * random())] as number;
      if (ms > 0 && ms <= TAKEN_FOR_TIME_MS) forward.push({ at: performance.now(), ms });
      aheadMs += ms;
      setAhead(aheadMs);
    }
    ended = true;
    await Promise.all(takers);
    await store.close();
    const extra = (from: number, to: number) =>
      forward.filter(({ at }) => at >= from - SECOND && at <= to).length * BUCKET.capacity;
    record.expectWithin(BUCKET, extra);
    expect(record.total, 'held up by steps').toBeGreaterThan(
      (0.4 * record.spanMs * LIMIT.perSecond) / SECOND,
    );
  });

  it('does not keep anyone waiting until the old time comes again', async () => {
    const { store, setAhead } = await open();
    const slow = { ...LIMIT, perSecond: 2, burst: 2 };
    setAhead(HOUR);
    await store.pace.take({ participant: 'carddata', interfaceName: 'flow', calls: 50, limits: [slow] });
    expect(await store.pace.states()).toMatchObject([{ waiting: ['carddata'] }]);
    setAhead(0);
    await store.pace.take({ participant: 'follow_up', interfaceName: 'stop', calls: 0, limits: [slow] });
    expect(await store.pace.states()).toMatchObject([{ waiting: [] }]);
    await store.close();
  });
});
