// One pass of the leader at a time, over the embedded store and a clock that stands still between passes.
import { expect, it, vi } from 'vitest';
import type { AuditChange } from '../../../src/domain/audit.ts';
import { TASK_TYPES, type TaskType } from '../../../src/domain/task-type.ts';
import { ConcurrencyController } from '../../../src/engine/concurrency-controller.ts';
import { seedCeiling } from '../../../src/engine/limit-keeper.ts';
import type { Logger } from '../../../src/platform/logger.ts';
import { openEmbeddedLiveStore } from '../../../src/store/memory/live-store.ts';
import type { StatsDelta } from '../../../src/store/ports/poll-stats.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const REFUSED: StatsDelta = {
  succeeded: 50,
  failed: 50,
  durationMs: 5_000,
  succeededMs: 2_500,
  backpressure: 50,
};

/** As fast as normal, see knowing(). */
const WELL: StatsDelta = { succeeded: 500, failed: 0, durationMs: 25_000, succeededMs: 25_000 };

function leader(options: { adaptiveConcurrency?: boolean; ceiling?: number | null } = {}) {
  const clock = new FakeClock();
  const live = openEmbeddedLiveStore({ clock });
  const log: Array<Record<string, unknown>> = [];
  const notes: AuditChange[] = [];
  const controllers: ConcurrencyController[] = [];
  let leads = true;
  let flushes = 0;
  const lead = () =>
    new ConcurrencyController({
      live,
      fence: () => (leads ? 1 : null),
      adaptiveConcurrency: options.adaptiveConcurrency ?? true,
      ceiling: options.ceiling ?? null,
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
    async pass(seen: Partial<Record<TaskType, StatsDelta>> = {}, later = 1_000) {
      clock.advance(later);
      flushes += 1;
      for (const [type, delta] of Object.entries(seen)) {
        await live.stats.record(type as TaskType, 'w', flushes, delta);
      }
      await controllers[0]?.runOnce();
    },
    async inForce() {
      const counts = await Promise.all(TASK_TYPES.map((type) => live.work.counts(type)));
      return counts.map((one) => one.effectiveConcurrency);
    },
  };
}

it('lowers the limit of the type whose calls are refused, logs it once and keeps the reason', async () => {
  const fleet = leader();
  await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([50, 100, 100]);
  const reason = '50 % of 100 calls were refused (429 or 503)';
  expect(fleet.log).toEqual([{ task_type: 'realname', from: 100, to: 50, reason }]);
  expect(fleet.notes).toEqual([
    {
      action: 'limit.adapt',
      object: 'task_type realname',
      before: { effectiveConcurrency: 100 },
      after: { effectiveConcurrency: 50, reason },
    },
  ]);
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ limit: 50, reason });
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({ limit: null, reason: null });
});

it('judges nothing, and touches nothing, while another leads', async () => {
  const fleet = leader();
  fleet.lose();
  for (let i = 0; i < 3; i += 1) await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  expect(await fleet.live.work.limitRecord('realname')).toBeNull();
});

it('hands its knowledge to the next leader, who changes nothing by taking over', async () => {
  const fleet = leader();
  for (let i = 0; i < 2; i += 1) await fleet.pass({ realname: REFUSED });
  fleet.replace();
  for (let i = 0; i < 3; i += 1) await fleet.pass();
  expect(await fleet.inForce()).toEqual([50, 100, 100]);
  expect(fleet.log).toHaveLength(1);
});

it('puts the limits back where the live store lost them, and judges no counters that went backwards', async () => {
  const fleet = leader();
  for (let i = 0; i < 2; i += 1) await fleet.pass({ realname: REFUSED });
  await fleet.live.work.setEffectiveConcurrency('realname', null);
  await fleet.pass();
  expect(await fleet.inForce()).toEqual([50, 100, 100]);
});

it('follows a configured limit at once, up where it is not reduced and down below what is reduced', async () => {
  const fleet = leader();
  for (let i = 0; i < 2; i += 1) await fleet.pass({ realname: REFUSED });
  await fleet.live.work.setMaxConcurrency('carddata', 300);
  expect(await fleet.inForce()).toEqual([50, 300, 100]);
  await fleet.live.work.setMaxConcurrency('realname', 20);
  expect(await fleet.inForce()).toEqual([20, 300, 100]);
  await fleet.pass();
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ limit: null, reason: null });
});

it('switched off, removes what was lowered', async () => {
  const fleet = leader({ adaptiveConcurrency: false });
  await fleet.live.work.setEffectiveConcurrency('realname', 3);
  for (let i = 0; i < 4; i += 1) await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
});

it('tries less load with all types that work at their limit, also those that know what is normal', async () => {
  const fleet = leader();
  await fleet.knowing('realname', null);
  await fleet.pass();
  const atLimit = { ...WELL, limitReached: 1 };
  await fleet.pass({ realname: atLimit, package: atLimit, carddata: WELL });
  expect(await fleet.inForce()).toEqual([70, 100, 70]);
  expect(fleet.log.map(({ task_type, reason }) => [task_type, reason])).toEqual([
    ['realname', 'trial: 50 ms a call, normal were 50 ms'],
    ['package', 'trial: is 50 ms normal, or load?'],
  ]);
});

it('lets no type grow while others are refused', async () => {
  const fleet = leader();
  await fleet.knowing('realname', 40);
  await fleet.pass();
  await fleet.pass({ carddata: REFUSED });
  await fleet.pass({}, 4_000);
  await fleet.pass({ package: REFUSED });
  expect(await fleet.inForce()).toEqual([40, 50, 50]);
  const atLimit = { ...WELL, limitReached: 1 };
  await fleet.pass({ realname: atLimit });
  expect((await fleet.inForce())[0]).toBe(40);
  await fleet.pass({ realname: atLimit }, 2_000);
  expect((await fleet.inForce())[0]).toBe(48);
});

it('lets a type grow soon after it was refused itself', async () => {
  const fleet = leader();
  await fleet.knowing('realname', null);
  await fleet.pass();
  await fleet.pass({ realname: REFUSED });
  await fleet.pass({ realname: { ...WELL, limitReached: 1 } }, 2_000);
  expect((await fleet.inForce())[0]).toBe(60);
});

it('judges the timeouts of the last second alone', async () => {
  const fleet = leader();
  await fleet.pass();
  const fewTimeouts = { ...WELL, succeeded: 480, failed: 20, timeouts: 20 };
  for (const seen of [fewTimeouts, WELL, WELL]) await fleet.pass({ package: seen });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
});

it('measures a point of the curve only at a limit that was reached', async () => {
  const fleet = leader();
  for (let i = 0; i < 2; i += 1) await fleet.pass({ realname: WELL, package: { ...WELL, limitReached: 4 } });
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({ curve: [] });
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({
    curve: [{ concurrency: 100, ratePerSecond: 500, avgDurationMs: 50, backpressurePercent: 0 }],
  });
});

it('judges once a second, and at once where calls are refused', async () => {
  const fleet = leader();
  await fleet.pass();
  const seen = { ...WELL, limitReached: 1 };
  await fleet.pass({ package: seen }, 200);
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({ curve: [] });
  await fleet.pass({}, 800);
  expect(await fleet.live.work.limitRecord('package')).toMatchObject({ curve: [{ ratePerSecond: 500 }] });
  await fleet.pass({ realname: REFUSED }, 200);
  expect((await fleet.inForce())[0]).toBe(50);
});

it.each<[string, StatsDelta]>([
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
  await fleet.live.work.setMaxConcurrency('package', 70);
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
  for (let i = 0; i < 2; i += 1) await fleet.pass({ realname: REFUSED });
  const save = vi.spyOn(fleet.live.work, 'saveLimitRecord');
  const set = vi.spyOn(fleet.live.work, 'setEffectiveConcurrency');
  await fleet.pass();
  expect(save).not.toHaveBeenCalled();
  expect(set).not.toHaveBeenCalled();
});

it('judges nothing where the counters were lost and counted on from nothing', async () => {
  const fleet = leader();
  for (let i = 0; i < 3; i += 1) await fleet.pass({ realname: { ...WELL, succeeded: 5_000 } });
  const lost = openEmbeddedLiveStore({ clock: new FakeClock() });
  Object.assign(fleet.live, { stats: lost.stats });
  await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  await fleet.pass({ realname: REFUSED });
  expect(await fleet.inForce()).toEqual([50, 100, 100]);
});

it('counts calls under way as need when it divides the ceiling', async () => {
  const fleet = leader({ ceiling: 90 });
  await seedCeiling(fleet.live.work, 90);
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

it('sets a limit under a ceiling although it is the configured one, which somebody may raise', async () => {
  const fleet = leader({ ceiling: 300 });
  await fleet.pass();
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
  await fleet.live.work.setMaxConcurrency('realname', 1_000);
  expect(await fleet.inForce()).toEqual([100, 100, 100]);
});

it('sets no limit that is in force already, under a ceiling too', async () => {
  const fleet = leader({ ceiling: 90 });
  await seedCeiling(fleet.live.work, 90);
  for (let i = 0; i < 3; i += 1) await fleet.pass();
  const set = vi.spyOn(fleet.live.work, 'setEffectiveConcurrency');
  await fleet.pass();
  expect(set).not.toHaveBeenCalled();
});

it('holds the ceiling from the seed on, divides it by need and never exceeds it', async () => {
  const fleet = leader({ ceiling: 90 });
  await seedCeiling(fleet.live.work, 90);
  expect(await fleet.inForce()).toEqual([30, 30, 30]);
  const waiting = Array.from({ length: 500 }, (_, i) => String(i + 1));
  await fleet.live.manual.push('realname', waiting);
  for (let i = 0; i < 3; i += 1) await fleet.pass();
  expect(await fleet.inForce()).toEqual([88, 1, 1]);
  expect(await fleet.live.work.limitRecord('realname')).toMatchObject({
    reason: 'the ceiling of 90 calls for the gateway, shared by need',
  });
  await fleet.live.work.claim('realname', { instanceId: 'w', claimNumber: 1, max: 88, leaseMs: 600_000 });
  await fleet.live.manual.push('package', waiting);
  await fleet.pass();
  // realname's share is lowered at once; its calls in flight are not given to anybody else.
  expect(await fleet.inForce()).toEqual([45, 1, 1]);
});
