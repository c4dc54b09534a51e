// What /metrics reports about an instance's claims, with any result.
import { expect, it } from 'vitest';
import { WorkCounts } from '../../../../src/engine/stats/work-counts.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';

it('counts claims by lane, settlements by verdict and fenced results', async () => {
  const live = openEmbeddedLiveStore({ clock: systemClock });
  const late: number[] = [];
  const counts = new WorkCounts({ claimedLate: (_, lateMs) => late.push(lateMs) });
  await live.work.setMaxConcurrency('package', 10);
  await live.manual.push('package', ['1', '2', '3']);
  const request = { instanceId: 'w', claimNumber: 1, max: 10, leaseMs: 60_000 };
  const claim = await live.work.claim('package', request);
  counts.claimed('package', claim);
  const settlements = claim.items.map((item, i) => ({
    item,
    verdict: i === 0 ? ('failed' as const) : ('done' as const),
    random: 0,
  }));
  const backoff = { baseMs: 1, capMs: 0 };
  const settle = async () =>
    counts.settled('package', settlements, (await live.work.settle('package', settlements, backoff)).fenced);
  await settle();
  expect(counts.totals.find(({ taskType }) => taskType === 'package')).toEqual({
    taskType: 'package',
    claimed: { schedule: 0, retry: 0, manual: 3 },
    settled: { done: 2, failed: 1, returned: 0, early: 0 },
    fenced: 0,
  });
  await settle();
  expect(counts.totals.find(({ taskType }) => taskType === 'package')).toMatchObject({ fenced: 3 });
  expect(late, 'what was triggered by hand is never late').toEqual([]);
  await live.close();
});
