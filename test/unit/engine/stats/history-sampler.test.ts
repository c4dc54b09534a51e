import { expect, it } from 'vitest';
import { HistorySampler } from '../../../../src/engine/stats/history-sampler.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore, setLimit } from '../../../support/limits.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

const START = Date.parse('2026-11-21T02:00:00.400Z');

function setUp() {
  const clock = new FakeClock(START);
  const live = openLimitedLiveStore({ clock });
  const lead = { fence: 1 as number | null };
  const sampler = new HistorySampler({
    live,
    fence: () => lead.fence,
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
  let flushes = 0;
  const poll = (succeeded: number, failed: number) =>
    live.stats.record(
      'realname',
      'w',
      ++flushes,
      statsDelta({ succeeded, failed, durationMs: 1, durations: { 10: 1 } }),
    );
  return { clock, live, lead, sampler, poll };
}

it('samples what happened since the sample before, on the second', async () => {
  const { clock, live, sampler, poll } = setUp();
  await poll(100, 0);
  expect(await sampler.runOnce()).toBe(600);
  clock.advance(2_000);
  await poll(10, 4);
  await setLimit(live.work, 'realname', 40);
  await sampler.runOnce();
  const samples = await live.history.read('second', 0);
  expect(samples.map(({ atMs }) => new Date(atMs).toISOString())).toEqual([
    '2026-11-21T02:00:00.000Z',
    '2026-11-21T02:00:02.000Z',
  ]);
  // Polls that were counted before the first sample say nothing about this second.
  expect(samples[0]?.tasks.realname).toMatchObject({ ratePerSecond: null, failedPerSecond: null });
  expect(samples[1]?.tasks.realname).toMatchObject({
    ratePerSecond: 7,
    failedPerSecond: 2,
    maxConcurrency: 40,
    queueLength: 0,
  });
  expect(samples[1]?.tasks.realname.p50Ms).toBeGreaterThan(0);
  expect(samples[1]?.tasks.package.p50Ms).toBeNull();
});

it('takes a sample of the next second when its timer is a little early', async () => {
  const { clock, live, sampler, poll } = setUp();
  clock.advance(await sampler.runOnce());
  await sampler.runOnce();
  await poll(10, 0);
  clock.advance(999);
  expect(await sampler.runOnce()).toBe(1_001);
  const samples = await live.history.read('second', 0);
  expect(samples.map(({ atMs }) => (atMs - START) / 1_000)).toEqual([-0.4, 0.6, 1.6]);
  expect(samples[2]?.tasks.realname.ratePerSecond).toBe(10.01);
});

it('leaves a gap while another instance leads', async () => {
  const { clock, live, lead, sampler, poll } = setUp();
  await sampler.runOnce();
  lead.fence = null;
  clock.advance(1_000);
  await poll(50, 0);
  await sampler.runOnce();
  lead.fence = 2;
  clock.advance(1_000);
  await sampler.runOnce();
  const samples = await live.history.read('second', 0);
  expect(samples.map(({ tasks }) => tasks.realname.ratePerSecond)).toEqual([null, null]);
});

it('says nothing of a second in which the counters were lost, or that took no time', async () => {
  const { clock, live, sampler, poll } = setUp();
  await poll(100, 0);
  await sampler.runOnce();
  await poll(10, 0);
  await sampler.runOnce();
  Object.assign(live, { stats: openLimitedLiveStore({ clock }).stats });
  clock.advance(1_000);
  await sampler.runOnce();
  const samples = await live.history.read('second', 0);
  expect(samples.map(({ tasks }) => tasks.realname.ratePerSecond)).toEqual([null, null]);
  clock.advance(1_000);
  await sampler.runOnce();
  const [, , next] = await live.history.read('second', 0);
  expect(next?.tasks.realname.ratePerSecond).toBe(0);
});

it("dates samples by the store's clock, whatever that of the leader's machine is", async () => {
  const { clock, live } = setUp();
  const ahead = { ...systemClock, now: () => START + 3_600_000, monotonic: () => clock.monotonic() };
  const sampler = new HistorySampler({
    live,
    fence: () => 1,
    clock: ahead,
    onError: (error) => expect.unreachable(String(error)),
  });
  expect(await sampler.runOnce()).toBe(600);
  expect((await live.history.read('second', 0)).map(({ atMs }) => atMs)).toEqual([START - 400]);
});

it('goes on with minutes when the clock was set back', async () => {
  const { clock, live, sampler } = setUp();
  await sampler.runOnce();
  for (const at of ['01:30:10', '01:30:59.9', '01:31:00']) {
    clock.set(`2026-11-21T${at}Z`);
    await sampler.runOnce();
  }
  const minutes = await live.history.read('minute', 0);
  expect(minutes.map(({ atMs }) => new Date(atMs).toISOString().slice(11, 19))).toEqual([
    '01:31:00',
    '02:01:00',
  ]);
});

it('makes a minute of its seconds once it has ended', async () => {
  const { clock, live, sampler, poll } = setUp();
  await sampler.runOnce();
  for (let second = 0; second < 61; second += 1) {
    expect(await live.history.read('minute', 0)).toHaveLength(second < 60 ? 0 : 1);
    clock.advance(1_000);
    await poll(second < 30 ? 10 : 20, 0);
    await sampler.runOnce();
  }
  const [minute] = await live.history.read('minute', 0);
  expect(new Date(minute?.atMs as number).toISOString()).toBe('2026-11-21T02:01:00.000Z');
  expect(minute?.tasks.realname.ratePerSecond).toBeCloseTo(14.9, 1);
});
