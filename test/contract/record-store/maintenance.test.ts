// Maintenance windows: how they are kept, when they begin and end, and that one of the whole fleet is a pause of record.
import { beforeEach, expect, it } from 'vitest';
import { perTaskType } from '../../../src/domain/task-type.ts';
import { describeBothRecordStores } from './stores.ts';

const HOUR_MS = 3_600_000;
const scope = { taskType: null, carrierId: null, reason: '维护 "x"', by: 'ann' };

describeBothRecordStores('maintenance windows', (db) => {
  beforeEach(() => db.sql('DELETE FROM maintenance_windows'));

  const plan = async (fromMs: number, forMs: number, of: object = {}) => {
    const startsAtMs = (await db.store.now()) + fromMs;
    return db.store.maintenance.plan({ ...scope, ...of, startsAtMs, endsAtMs: startsAtMs + forMs });
  };
  const pauses = async () => {
    const record = await db.store.configs.recordedLimits();
    return perTaskType((taskType) => record[taskType].pause);
  };
  const idsOf = (windows: ReadonlyArray<{ id: number }>) => windows.map(({ id }) => id);

  it('are kept as they were planned, the first to start first, until they are cancelled', async () => {
    const { maintenance } = db.store;
    const later = await plan(2 * HOUR_MS, HOUR_MS);
    const first = await plan(HOUR_MS, HOUR_MS / 2, { taskType: 'carddata', carrierId: 2 });
    expect(first).toMatchObject({ taskType: 'carddata', carrierId: 2, reason: '维护 "x"', by: 'ann' });
    expect(first.endsAtMs - first.startsAtMs).toBe(HOUR_MS / 2);
    expect(await maintenance.open()).toEqual([first, later]);
    expect(await maintenance.cancel(first.id)).toEqual(first);
    expect(await maintenance.cancel(first.id), 'it is over').toBeNull();
    expect(await maintenance.open()).toEqual([later]);
  });

  it('begin and end once each, and are forgotten a week later', async () => {
    const { maintenance } = db.store;
    const running = await plan(-1_000, HOUR_MS);
    const past = await plan(-2_000, 1_000);
    await plan(HOUR_MS, HOUR_MS);
    const { begun, ended } = await maintenance.turn();
    expect([idsOf(begun).toSorted(), idsOf(ended)]).toEqual([[running.id, past.id].toSorted(), [past.id]]);
    expect(await maintenance.turn()).toEqual({ begun: [], ended: [] });
    expect((await maintenance.open()).map(({ begunAtMs }) => begunAtMs !== null)).toEqual([true, false]);
    const kept = () => db.sql('SELECT count(*)::integer AS kept FROM maintenance_windows');
    expect(await kept()).toEqual([{ kept: 3 }]);
    await db.sql(`UPDATE maintenance_windows SET over_at = over_at - interval '8 days'`);
    await maintenance.turn();
    expect(await kept()).toEqual([{ kept: 2 }]);
  });

  it('are pauses of record while they last where they are of the whole fleet, next to those of operators', async () => {
    const { configs, maintenance } = db.store;
    await plan(HOUR_MS, HOUR_MS);
    expect(await pauses(), 'it is to come').toEqual(perTaskType(() => null));
    const one = await plan(-1_000, HOUR_MS, { taskType: 'realname' });
    await plan(-1_000, HOUR_MS, { taskType: 'package', carrierId: 2 });
    expect(await pauses()).toMatchObject({
      realname: { id: `maintenance ${one.id}`, reason: '维护 "x"', by: 'ann' },
      carddata: null,
      package: null,
    });
    const { realname } = await pauses();
    expect(realname?.lastsMs).toBeCloseTo(HOUR_MS, -1);
    expect(Math.abs((realname?.leftMs ?? 0) - HOUR_MS)).toBeLessThan(60_000);
    await configs.pause(['realname'], { seconds: 60, reason: 'shorter', by: 'bob' });
    expect((await pauses()).realname, 'the one that ends last').toMatchObject({ by: 'ann' });
    await configs.pause(['realname'], { seconds: 10_000, reason: 'longer', by: 'bob' });
    expect((await pauses()).realname).toMatchObject({ by: 'bob' });
    await configs.endPauses(['realname']);
    expect((await pauses()).realname, 'the window goes on').toMatchObject({ by: 'ann' });
    await maintenance.cancel(one.id);
    expect((await pauses()).realname).toBeNull();
  });

  it('are remembered for an hour as the pause that ended last', async () => {
    const { configs, maintenance } = db.store;
    const last = async () => (await configs.recordedLimits()).realname.lastPause;
    await db.sql('DELETE FROM pauses');
    expect(await last()).toBeNull();
    const [one] = [await plan(-HOUR_MS / 2, HOUR_MS, { taskType: 'realname' })];
    expect(await last()).toEqual({ sinceMs: one.startsAtMs, untilMs: one.endsAtMs });
    await maintenance.cancel(one.id);
    expect((await last())?.untilMs).toBeLessThan(one.endsAtMs);
    expect((await configs.recordedLimits()).carddata.lastPause).toBeNull();
    const dropped = await plan(HOUR_MS, HOUR_MS);
    await maintenance.cancel(dropped.id);
    expect((await configs.recordedLimits()).carddata.lastPause, 'it never began').toBeNull();
    await db.sql(
      `UPDATE maintenance_windows SET over_at = over_at - interval '61 minutes', starts_at = starts_at - interval '2 hours'`,
    );
    expect(await last()).toBeNull();
  });
});
