// A worker with nothing to do asks Redis less and less, and wakes when work comes.
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { ConfigMatcher } from '../../../../src/domain/schedule/polling-config.ts';
import { ResultWriter } from '../../../../src/engine/results/result-writer.ts';
import { StatsRecorder } from '../../../../src/engine/stats/stats-recorder.ts';
import type { CardReader } from '../../../../src/engine/work/card-reader.ts';
import type { Task } from '../../../../src/engine/work/task.ts';
import { Worker } from '../../../../src/engine/work/worker.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { openRedisLiveStore } from '../../../../src/store/redis/live-store.ts';
import { freshRedis } from '../../../support/fresh-stores.ts';
import { setLimits } from '../../../support/limits.ts';
import { waitFor } from '../../../support/wait-for.ts';

function idleWorker(live: LiveStore, onPoll: () => void): Worker {
  const onError = (error: unknown) => expect.unreachable(String(error));
  const meter = { claimed: () => {}, settled: () => {} };
  const task: Task = {
    taskType: 'realname',
    poll: async (card) => {
      onPoll();
      return { outcome: { cardId: card.cardId, taskType: 'realname', polledAtMs: 0 }, fields: {} };
    },
  };
  return new Worker({
    task,
    instanceId: 'w',
    live,
    meter,
    reader: {
      read: async (ids: readonly number[]) => new Map(ids.map((cardId) => [cardId, { cardId }])),
    } as unknown as CardReader,
    writer: new ResultWriter({
      live,
      records: {
        results: { write: async () => ({ staleUsage: [], otherIccid: [] }) },
        triggers: { count: async () => {}, defer: async () => {} },
      },
      meter,
      onWritten: async () => {},
      log: { warn: onError, error: onError },
      onError,
      clock: systemClock,
      random: Math.random,
      writeBuffer: 100,
      retryBaseMs: 1_000,
      leaseMs: 15_000,
    }),
    stats: new StatsRecorder({
      live,
      instanceId: 'w',
      meter: { poll: () => {} },
      clock: systemClock,
      onError,
    }),
    cardsPerCall: () => 1,
    flow: {
      ready: async () => {},
      permit: () => ({ calls: Number.POSITIVE_INFINITY, trickle: false }),
      giveBack: () => {},
      refusesAll: () => false,
      makeRoom: () => {},
      breakers: () => [],
    },
    matcher: () => new ConfigMatcher([]),
    fleetClock: { timeOf: (claimedAtMs) => claimedAtMs },
    clock: systemClock,
    leaseMs: 15_000,
    claimBatch: 200,
    log: pino({ enabled: false }),
    onError,
  });
}

async function scriptCalls(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

it('an idle worker asks about once a second, and is woken by a manual card', async () => {
  const server = await freshRedis();
  const live = await openRedisLiveStore({ url: server.url });
  const redis = new Redis(server.url);
  await setLimits(live.work);
  const first = await scriptCalls(redis);
  let polls = 0;
  const worker = idleWorker(live, () => {
    polls += 1;
  });
  await worker.start();
  // 25 + 50 + ... + 800 ms of growing rests make seven claims; what follows comes once a second. It was 40 a second.
  await waitFor(async () => (await scriptCalls(redis)) >= first + 7);
  const before = await scriptCalls(redis);
  const from = performance.now();
  await waitFor(async () => (await scriptCalls(redis)) >= before + 3, { everyMs: 50 });
  const restMs = (performance.now() - from) / 3;
  expect(3 * restMs, 'three claims take that long at least').toBeGreaterThan(1_500);

  // Woken by the message, not by the end of a rest: of five cards most are polled in far less than the half of a rest, as
  // long as rests are here and now.
  const delaysMs: number[] = [];
  for (let card = 1; card <= 5; card += 1) {
    const pushedAt = performance.now();
    const expected = polls + 1;
    await live.manual.push('realname', [String(card)]);
    await waitFor(() => polls === expected, { everyMs: 1 });
    delaysMs.push(performance.now() - pushedAt);
    // Lets the rests grow again: the sixth claim begins one of 800 ms.
    const idle = await scriptCalls(redis);
    await waitFor(async () => (await scriptCalls(redis)) >= idle + 6);
  }
  await worker.stop();
  await live.close();
  redis.disconnect();
  expect(delaysMs.sort((a, b) => a - b)[2], `half of ${delaysMs.map(Math.round)}`).toBeLessThan(restMs / 4);
});
