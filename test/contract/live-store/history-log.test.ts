// Samples for charts: in order, replaced by time, in a ring of fixed size.
import { expect, it } from 'vitest';
import { HISTORY_STEPS, type HistorySample } from '../../../src/domain/stats/history.ts';
import { perTaskType } from '../../../src/domain/task-type.ts';
import { describeLiveStore } from './stores.ts';

const START = Date.parse('2026-11-21T02:00:00Z');

function sampleAt(atMs: number, queueLength = 7): HistorySample {
  return {
    atMs,
    tasks: perTaskType((taskType) => ({
      ratePerSecond: taskType === 'realname' ? 12.34 : null,
      failedPerSecond: 0,
      p50Ms: 100.5,
      p95Ms: null,
      queueLength,
      inFlight: 2,
      backoff: 3,
      manualLength: 4,
      effectiveConcurrency: 50,
      maxConcurrency: 100,
    })),
  };
}

describeLiveStore('history log', (live) => {
  it('gives samples back as they were, oldest first, from a time on', async () => {
    const { history } = live.store;
    for (const second of [2, 0, 1]) await history.save('second', sampleAt(START + second * 1000));
    await history.save('minute', sampleAt(START));
    expect(await history.read('second', START + 1000)).toEqual([
      sampleAt(START + 1000),
      sampleAt(START + 2000),
    ]);
    expect(await history.read('minute', 0)).toEqual([sampleAt(START)]);
  });

  it('replaces a sample of the same time', async () => {
    await live.store.history.save('second', sampleAt(START, 1));
    await live.store.history.save('second', sampleAt(START, 2));
    expect(await live.store.history.read('second', 0)).toEqual([sampleAt(START, 2)]);
  });

  it('never holds more than its ring', async () => {
    const { samples } = HISTORY_STEPS.second;
    const { history } = live.store;
    const ends = Array.from({ length: samples + 5 }, (_, i) => START + i * 1000);
    await Promise.all(ends.map((atMs) => history.save('second', sampleAt(atMs))));
    const kept = await history.read('second', 0);
    expect(kept.map(({ atMs }) => atMs)).toEqual(ends.slice(5));
  });
});
