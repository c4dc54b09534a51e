// One pass of the leader at a time, over the embedded store and a clock that does not move between passes.

import { expect, it, vi } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import { sum } from '../../../../src/domain/numbers.ts';
import { perTaskType, TASK_TYPES, type TaskType } from '../../../../src/domain/task-type.ts';
import { ConcurrencyController } from '../../../../src/engine/limits/concurrency-controller.ts';
import type { Logger } from '../../../../src/platform/logger.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import { lookAtInForce } from '../../../../src/store/ports/in-force.ts';
import type { StatsDelta } from '../../../../src/store/ports/live/poll-stats.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore, setLimit } from '../../../support/limits.ts';
import { instanceOf } from '../../../support/polled-fleet.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

/** What operators set. */
const OF_RECORD = { maxConcurrency: 100, pause: null };

/** The types these tests let work; all others rest. */
const WATCHED = ['realname', 'carddata', 'package'] as const;

/** A second with a hundred calls in flight: half of them are refused, the other half takes 100 ms. */
const REFUSED: Partial<StatsDelta> = {
  succeeded: 500,
  failed: 500,
  durationMs: 100_000,
  succeededMs: 50_000,
  backpressure: 500,
  limitReached: 1,
};

const TRIAL = 'testing whether fewer calls help: the gateway refuses 50 % of 2000';

/** As fast as normal, see knowing(). */
const WELL: Partial<StatsDelta> = { succeeded: 500, failed: 0, durationMs: 25_000, succeededMs: 25_000 };

function leader(options: { adaptiveConcurrency?: boolean; ceiling?: number | null } = {}) {
  const clock = new FakeClock();
  const live = options.ceiling ? openEmbeddedLiveStore({ clock }) : openLimitedLiveStore({ clock });
  const log: Array<Record<string, unknown>> = [];
  const notes: AuditChange[] = [];
  const controllers: ConcurrencyController[] = [];
  let leads = true;
  let fence = 1;
  let flushes = 0;
  const ceiling = options.ceiling ?? null;
  const lead = () =>
    new ConcurrencyController({
      live,
      fence: () => (leads ? fence : null),
      adaptiveConcurrency: options.adaptiveConcurrency ?? true,
      ceiling,
      clock,
      digest: { note: (change) => notes.push(change) },
      log: { info: (fields: Record<string, unknown>) => log.push(fields) } as unknown as Logger,
      onError: (error) => expect.unreachable(String(error)),
    });
  controllers.push(lead());
  return {
    live,
    log,
    notes,
    /** As the leader does before the first claim: all of record is put in, and the first pass divides the ceiling. */
    async seed() {
      const records = { configs: { recordedLimits: async () => perTaskType(() => OF_RECORD) } };
      const { missing } = await lookAtInForce({ live, records }, ceiling);
      for (const { taskType, seen, wanted } of missing) await live.work.putInForce(taskType, seen, wanted, 0);
      await this.pass();
    },
    /** What the leader before this one found out: calls of this type take 50 ms. */
    knowing: (type: TaskType, limit: number | null) =>
      live.work.saveLimitRecord(type, { limit, normalMs: 50, reason: null, curve: [] }),
    lose: () => {
      leads = false;
    },
    /** Another instance takes the lead. */
    replace: () => {
      leads = true;
      controllers[0] = lead();
    },
    regain: () => {
      leads = true;
    },
    /** It lost the lead, and got it again. */
    leadAgain: () => {
      fence += 1;
    },
    /** @returns when the next pass is due, milliseconds. */
    async pass(seen: Partial<Record<TaskType, Partial<StatsDelta>>> = {}, later = 1_000) {
      clock.advance(later);
      flushes += 1;
      for (const [type, delta] of Object.entries(seen)) {
        await live.stats.record(type as TaskType, 'w', flushes, statsDelta(delta));
      }
      return controllers[0]?.runOnce();
    },
    /** As many passes with the same. */
    async passes(times: number, seen: Partial<Record<TaskType, Partial<StatsDelta>>> = {}) {
      for (let i = 0; i < times; i += 1) await this.pass(seen);
    },
    /** Two windows of refusals, which a trial of realname follows: 55 % of its load. */
    async tryRealname() {
      await this.passes(5, { realname: REFUSED });
    },
    /** Such a trial, after which nothing is refused. */
    async strainRealname() {
      await this.tryRealname();
      await this.passes(4, { realname: WELL });
    },
    /** Of the watched types, in their order. */
    async inForce() {
      const counts = await Promise.all(WATCHED.map((type) => live.work.counts(type)));
      return counts.map((one) => one.effectiveConcurrency);
    },
  };
}

it('raises the limit in steps after a pause of a minute and more, and says why it is lower', async () => {
  const fleet = leader();
  await fleet.pass();
  await fleet.live.work.pause('carddata', { ms: 70_500, reason: 'maintenance', by: 'ann' });
  await fleet.passes(60);
  expect(await fleet.inForce(), 'it may end soon').toEqual([100, 100, 100]);
  await fleet.pass();
  expect(await fleet.inForce()).toEqual([100, 12, 100]);
  const reason = 'a pause: the limit rises to its value within 30 s of the end';
  expect(fleet.log).toEqual([{ task_type: 'carddata', from: 100, to: 12, reason }]);
  expect((await fleet.live.work.limitRecord('carddata'))?.reason).toBe(reason);
  const limits: number[] = [];
  for (let second = 0; second < 45; second += 1) {
    await fleet.pass();
    limits.push((await fleet.inForce())[1] ?? 0);
  }
  expect([...new Set(limits)]).toEqual([12, 25, 50, 100]);
  expect(limits.filter((limit) => limit < 100)).toHaveLength(9 + 30);
});

it('tries less load where calls are refused, logs it once and keeps the reason', async () => {
  const fleet = leader();
  await fleet.passes(4, { realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([55, 100, 100]);
  expect(fleet.log).toEqual([{ task_type: 'realname', from: 100, to: 55, reason: TRIAL }]);
  expect(fleet.notes).toEqual([
    {
      action: 'limit.adapt',
      object: 'task_type realname',
      before: { effectiveConcurrency: 100 },
      after: { effectiveConcurrency: 55, reason: TRIAL },
    },
  ]);
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ limit: 55, reason: TRIAL });
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({ limit: null, reason: null });
});

it('learns nothing, and lowers nothing, while a worker measures trouble on our own side', async () => {
  const fleet = leader();
  const ownSide = { loopDelayMs: 200, cpuPercent: 99, machinePercent: null, redisMs: 1, databaseMs: 1 };
  await fleet.live.coordination.heartbeat(instanceOf('w', { ownSide }), 3_600_000);
  await fleet.passes(10, { realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  expect(await fleet.live.work.limitRecord('realname')).not.toMatchObject({ limit: expect.any(Number) });
  // The calls of this second are well, although the shortage is only seconds ago.
  const after = { ...ownSide, loopDelayMs: 3, lastShort: { ...ownSide, agoMs: 2_000 } };
  await fleet.live.coordination.heartbeat(instanceOf('w', { ownSide: after }), 3_600_000);
  await fleet.passes(5, { realname: REFUSED });
  expect(await fleet.inForce()).toEqual([55, 100, 100]);
});

it('keeps the lower limit where strain went with the load, and says why', async () => {
  const fleet = leader();
  await fleet.strainRealname();
  expect(await fleet.inForce()).toEqual([55, 100, 100]);
  expect(fleet.log).toHaveLength(1);
  const reason = '50 % of the calls were refused with 100 in flight, 0.0 % with 31';
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ limit: 55, reason });
});

it('restores the limit where strain stayed whatever the load, and says why', async () => {
  const fleet = leader();
  await fleet.tryRealname();
  await fleet.passes(4, { realname: { ...REFUSED, limitReached: 0 } });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  const reason = 'fewer calls did not help, 50 % are refused: limit restored';
  expect(fleet.log.slice(1)).toEqual([{ task_type: 'realname', from: 55, to: 100, reason }]);
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ limit: null, reason: null });
});

it('restores every limit of a trial, also that of a type whose counters were lost meanwhile', async () => {
  const fleet = leader();
  const fewer = { ...REFUSED, succeeded: 360, failed: 40, durationMs: 40_000, backpressure: 40 };
  await fleet.passes(5, { realname: REFUSED, carddata: fewer });
  expect(await fleet.inForce()).toEqual([47, 47, 100]);
  const { stats } = fleet.live;
  const read = stats.read.bind(stats);
  let total = 0;
  vi.spyOn(stats, 'read').mockImplementation(async (type) => {
    const reading = await read(type);
    return type === 'carddata' ? { ...reading, total: --total } : reading;
  });
  await fleet.passes(4, { realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
});

it('gives equal limits to the types that take part in a trial, and leaves the others alone', async () => {
  const fleet = leader();
  const fewer = { ...REFUSED, succeeded: 360, failed: 40, durationMs: 40_000, backpressure: 40 };
  await fleet.passes(5, { realname: REFUSED, carddata: fewer, package: WELL });
  expect(await fleet.inForce()).toEqual([47, 47, 100]);
});

it('lets no type grow while a trial runs', async () => {
  const fleet = leader();
  await fleet.knowing('package', 40);
  await fleet.tryRealname();
  const atLimit = { ...WELL, limitReached: 1 };
  await fleet.passes(2, { realname: WELL, package: atLimit });
  expect(await fleet.inForce()).toEqual([55, 100, 40]);
  await fleet.pass({ realname: WELL, package: atLimit });
  expect(await fleet.inForce()).toEqual([55, 100, 60]);
});

it('lets no type grow of which more calls are refused than is tolerated', async () => {
  const fleet = leader();
  await fleet.knowing('package', 40);
  const some = { ...WELL, succeeded: 482, failed: 18, backpressure: 18 };
  await fleet.passes(3, { package: some });
  await fleet.passes(2, { package: { ...some, limitReached: 1 } });
  expect(await fleet.inForce()).toEqual([100, 100, 40]);
  await fleet.passes(2, { package: { ...WELL, limitReached: 1 } });
  expect(await fleet.inForce()).toEqual([100, 100, 60]);
});

it('lets a type grow by a tenth of the limits that are used up where calls are slower', async () => {
  const fleet = leader();
  await fleet.knowing('package', 40);
  await fleet.pass();
  await fleet.pass({ package: { ...WELL, durationMs: 30_000, succeededMs: 30_000, limitReached: 1 } });
  expect(await fleet.inForce()).toEqual([100, 100, 44]);
});

it('passes once a second, also while another leads', async () => {
  const fleet = leader();
  expect(await fleet.pass({ realname: REFUSED })).toBe(1_000);
  fleet.lose();
  expect(await fleet.pass()).toBe(1_000);
});

it('judges nothing, and touches nothing, while another leads', async () => {
  const fleet = leader();
  fleet.lose();
  await fleet.passes(4, { realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  expect(await fleet.live.work.limitRecord('realname')).toBeNull();
});

it('forgets a trial with the lead', async () => {
  const fleet = leader();
  await fleet.tryRealname();
  fleet.lose();
  await fleet.pass();
  fleet.regain();
  await fleet.passes(5);
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ limit: 55, reason: TRIAL });
});

it('hands its knowledge to the next leader, who changes nothing by taking over', async () => {
  const fleet = leader();
  await fleet.strainRealname();
  fleet.replace();
  await fleet.passes(3);
  expect(await fleet.inForce()).toEqual([55, 100, 100]);
  expect(fleet.log).toHaveLength(1);
});

it('lifts a lower limit that was not used up for a minute, that of a leader before among them', async () => {
  const fleet = leader();
  await fleet.tryRealname();
  fleet.replace();
  await fleet.passes(60);
  expect(await fleet.inForce()).toEqual([55, 100, 100]);
  await fleet.pass();
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  expect(fleet.log.at(-1)?.reason).toBe('the lower limit was not used up for a minute: lifted');
});

it('puts the limits back where the live store lost them, and judges no counters that went backwards', async () => {
  const fleet = leader();
  await fleet.strainRealname();
  await fleet.live.work.setEffectiveConcurrency('realname', null);
  await fleet.pass();
  expect(await fleet.inForce()).toEqual([55, 100, 100]);
});

it('follows a configured limit at once, up where it is not reduced and down below what is reduced', async () => {
  const fleet = leader();
  await fleet.strainRealname();
  await setLimit(fleet.live.work, 'carddata', 300);
  expect(await fleet.inForce()).toEqual([55, 300, 100]);
  await setLimit(fleet.live.work, 'realname', 20);
  expect(await fleet.inForce()).toEqual([20, 300, 100]);
  await fleet.pass();
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ limit: null, reason: null });
});

it('switched off, removes what was lowered, and gives no reason for which it was lowered', async () => {
  const fleet = leader({ adaptiveConcurrency: false });
  await fleet.live.work.setEffectiveConcurrency('realname', 3);
  const reason = 'the ceiling of 9 calls for the gateway, shared by need';
  await fleet.live.work.setEffectiveConcurrency('package', 3);
  await fleet.live.work.saveLimitRecord('package', { limit: null, normalMs: null, reason, curve: [] });
  for (let i = 0; i < 4; i += 1) await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  expect(fleet.log).toEqual(
    ['realname', 'package'].map((task_type) => ({
      ...{ task_type, from: 3, to: 100 },
      reason: 'nothing lowers the limit any more',
    })),
  );
});

it('tries less load with all types that work at their limit, also those that know what is normal', async () => {
  const fleet = leader();
  await fleet.knowing('realname', null);
  await fleet.pass();
  const atLimit = { ...WELL, limitReached: 1 };
  await fleet.pass({ realname: atLimit, package: atLimit, carddata: WELL });
  expect(await fleet.inForce()).toEqual([70, 100, 70]);
  expect(fleet.log.map(({ task_type, reason }) => [task_type, reason])).toEqual([
    ['realname', 'testing whether fewer calls help: 50 ms a call, usually 50 ms'],
    ['package', 'testing whether fewer calls help: 50 ms a call'],
  ]);
});

it('measures a point of the curve only at a limit that was reached', async () => {
  const fleet = leader();
  for (let i = 0; i < 2; i += 1) await fleet.pass({ realname: WELL, package: { ...WELL, limitReached: 4 } });
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ curve: [] });
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({
    curve: [{ concurrency: 100, ratePerSecond: 500, avgDurationMs: 50, backpressurePercent: 0 }],
  });
});

it.each<[string, Partial<StatsDelta>]>([
  ['so few calls say nothing', { ...WELL, succeeded: 19, limitReached: 1 }],
  ['none of them succeeded', { ...WELL, succeeded: 0, succeededMs: 0, failed: 500, limitReached: 1 }],
])('measures no point of the curve where %s', async (_, seen) => {
  const fleet = leader();
  await fleet.pass();
  await fleet.pass({ package: seen });
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({ curve: [] });
});

it('measures no point of the curve for a second in which the limit changed', async () => {
  const fleet = leader();
  await fleet.pass();
  await setLimit(fleet.live.work, 'package', 70);
  await fleet.pass({ package: { ...WELL, limitReached: 1 } });
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({ curve: [] });
});

it('measures rates by the second and refusals by the hundred', async () => {
  const fleet = leader();
  await fleet.pass();
  await fleet.pass(
    { package: { ...WELL, succeeded: 495, failed: 5, backpressure: 5, limitReached: 1 } },
    2_000,
  );
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({
    curve: [{ ratePerSecond: 247.5, backpressurePercent: 1 }],
  });
});

it('writes down what it knows only when it knows something else', async () => {
  const fleet = leader();
  await fleet.strainRealname();
  const save = vi.spyOn(fleet.live.work, 'saveLimitRecord');
  const set = vi.spyOn(fleet.live.work, 'setEffectiveConcurrency');
  await fleet.pass();
  expect(save).not.toHaveBeenCalled();
  expect(set).not.toHaveBeenCalled();
});

it('judges nothing where the counters were lost and counted on from nothing', async () => {
  const fleet = leader();
  await fleet.passes(3, { realname: { ...WELL, succeeded: 5_000 } });
  const lost = openEmbeddedLiveStore({ clock: new FakeClock() });
  Object.assign(fleet.live, { stats: lost.stats });
  await fleet.passes(4, { realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([55, 100, 100]);
});

it('sets no limit in a new life of the live store, in which its leader puts in what is of record', async () => {
  const fleet = leader({ ceiling: 90 });
  await fleet.passes(3);
  expect(await fleet.live.work.counts('realname')).toMatchObject({ inForce: false, leaderLimit: null });
});

it('counts calls under way as need when it divides the ceiling', async () => {
  const fleet = leader({ ceiling: 90 });
  await fleet.seed();
  const waiting = Array.from({ length: 80 }, (_, i) => String(i + 1));
  await fleet.live.manual.push('realname', waiting);
  for (let i = 0; i < 3; i += 1) await fleet.pass();
  await fleet.live.work.claim('realname', { instanceId: 'w', claimNumber: 1, max: 80, leaseMs: 600_000 });
  await fleet.live.manual.push('package', waiting);
  await fleet.pass();
  const [realname = 0, , onePackage = 0] = await fleet.inForce();
  expect(realname).toBeGreaterThanOrEqual(40);
  expect(realname + onePackage).toBeLessThanOrEqual(90);
});

it('under a ceiling sets a limit even if it equals the configured one, which may be raised', async () => {
  const fleet = leader({ ceiling: 100 * TASK_TYPES.length });
  await fleet.seed();
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  await setLimit(fleet.live.work, 'realname', 1_000);
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
});

it('under a ceiling sets a limit that an operator has lowered, so that raising it again exceeds nothing', async () => {
  const fleet = leader({ ceiling: 90 });
  await fleet.seed();
  const waiting = Array.from({ length: 500 }, (_, i) => String(i + 1));
  for (const type of WATCHED) await fleet.live.manual.push(type, waiting);
  await fleet.pass();
  for (let i = 0; i < 4; i += 1) {
    await setLimit(fleet.live.work, 'realname', 5);
    await fleet.pass();
    expect((await fleet.inForce())[0]).toBe(5);
    await setLimit(fleet.live.work, 'realname', 100);
    expect(sum(await fleet.inForce())).toBeLessThanOrEqual(90);
  }
  expect(await fleet.inForce()).toEqual([5, 43, 42]);
});

it('gives a type back its share of the ceiling by the retries that are due, too', async () => {
  const fleet = leader({ ceiling: 90 });
  await fleet.seed();
  await fleet.pass();
  const counts = fleet.live.work.counts.bind(fleet.live.work);
  vi.spyOn(fleet.live.work, 'counts').mockImplementation(async (taskType) => ({
    ...(await counts(taskType)),
    retryDue: taskType === 'realname' ? 500 : 0,
  }));
  await setLimit(fleet.live.work, 'realname', 1);
  await fleet.pass();
  await setLimit(fleet.live.work, 'realname', 100);
  await fleet.passes(3);
  // What the others left; for all its retries it would have got 88, though none may take so much beside other work.
  expect(await fleet.inForce()).toEqual([30, 27, 27]);
});

it.each([
  ['lost the lead', (fleet: ReturnType<typeof leader>) => fleet.lose()],
  ['lost the lead and got another one', (fleet: ReturnType<typeof leader>) => fleet.leadAgain()],
])('sets no limit by what it saw before it %s', async (_, happens) => {
  const fleet = leader({ ceiling: 90 });
  await fleet.seed();
  await fleet.pass();
  const before = await fleet.inForce();
  await fleet.live.manual.push(
    'package',
    Array.from({ length: 500 }, (_, i) => String(i + 1)),
  );
  const counts = fleet.live.work.counts.bind(fleet.live.work);
  vi.spyOn(fleet.live.work, 'counts').mockImplementation(async (taskType) => {
    happens(fleet);
    return counts(taskType);
  });
  await fleet.pass();
  expect(await fleet.inForce()).toEqual(before);
});

it('sets no limit that is in force already, under a ceiling too', async () => {
  const fleet = leader({ ceiling: 90 });
  await fleet.seed();
  for (let i = 0; i < 3; i += 1) await fleet.pass();
  const set = vi.spyOn(fleet.live.work, 'setEffectiveConcurrency');
  await fleet.pass();
  expect(set).not.toHaveBeenCalled();
});

it('holds the ceiling from the seed on, divides it by need and never exceeds it', async () => {
  const ceiling = 30 * TASK_TYPES.length;
  const fleet = leader({ ceiling });
  await fleet.seed();
  expect(await fleet.inForce()).toEqual([30, 30, 30]);
  await setLimit(fleet.live.work, 'realname', 1_000);
  const waiting = Array.from({ length: 500 }, (_, i) => String(i + 1));
  await fleet.live.manual.push('realname', waiting);
  for (let i = 0; i < 3; i += 1) await fleet.pass();
  // All but one for each other type.
  const most = ceiling - (TASK_TYPES.length - 1);
  expect(await fleet.inForce()).toEqual([most, 1, 1]);
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({
    reason: `the ceiling of ${ceiling} calls for the gateway, shared by need`,
  });
  await fleet.live.work.claim('realname', { instanceId: 'w', claimNumber: 1, max: most, leaseMs: 600_000 });
  await fleet.live.manual.push('package', waiting);
  await fleet.pass();
  // realname's share is lowered at once, and the odd call is package's, which needs less; the calls that realname still has in
  // flight are not given to another type.
  expect(await fleet.inForce()).toEqual([Math.floor((most + 1) / 2), 1, 1]);
});
