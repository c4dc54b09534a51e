// Maintenance windows in the engine: by what workers choose polls, and what the leader notes of them.
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditChange } from '../../../../src/domain/audit.ts';
import type { MaintenanceWindow } from '../../../../src/domain/schedule/maintenance.ts';
import { ConfigMatcher } from '../../../../src/domain/schedule/polling-config.ts';
import { MaintenanceLog } from '../../../../src/engine/schedule/maintenance-log.ts';
import { MaintenanceWatch } from '../../../../src/engine/schedule/maintenance-watch.ts';
import type { MaintenanceRecords } from '../../../../src/store/ports/records/maintenance-records.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { configOf } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-30T02:00:00Z');

let clock: FakeClock;
let windows: MaintenanceWindow[];
beforeEach(() => {
  clock = new FakeClock('2026-11-30T02:00:00Z');
  windows = [];
});

const windowAt = (fromMs: number, of: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  ...{ id: 1, taskType: null, carrierId: null, reason: 'core swap', by: 'ann', begunAtMs: null },
  ...{ startsAtMs: NOW + fromMs, endsAtMs: NOW + fromMs + HOUR_MS },
  ...of,
});
const open: MaintenanceRecords['open'] = async () => windows;

describe('what polls are chosen by', () => {
  const matcher = new ConfigMatcher([configOf(1)]);
  const started = async () => {
    const records = { maintenance: { open } };
    const watch = new MaintenanceWatch({ records, fleetNow: () => clock.now(), clock, onError: () => {} });
    await watch.runOnce();
    return watch;
  };
  const card = (carrierId: number) => ({ cardId: 1, carrierId, realNameVerified: false });

  it('is the same while no carrier is in maintenance', async () => {
    windows = [windowAt(0), windowAt(1, { carrierId: 2 })];
    const watch = await started();
    expect(watch.over(matcher), 'the fleet is paused, and carrier 2 is to come').toBe(matcher);
    clock.advance(1);
    expect(watch.over(matcher)).not.toBe(matcher);
    clock.advance(HOUR_MS);
    expect(watch.over(matcher)).toBe(matcher);
  });

  it('disables the config of cards of the carrier, for what the window covers', async () => {
    windows = [windowAt(0, { carrierId: 2, taskType: 'realname' })];
    const watch = await started();
    const inside = watch.over(matcher);
    expect(inside.match('realname', card(2))).toEqual({ ...configOf(1), status: 0 });
    expect(inside.match('realname', card(3))).toEqual(configOf(1));
    expect(watch.over(matcher), 'it is made once').toBe(inside);
    windows = [windowAt(0, { id: 2, carrierId: 2, taskType: 'package' })];
    await watch.runOnce();
    expect(watch.over(matcher).match('realname', card(2))?.status).toBe(1);
  });
});

describe('the begin and the end of a window', () => {
  const notes: AuditChange[] = [];
  const lines: Array<Record<string, unknown>> = [];
  let fence: number | null = 1;
  let turns = 0;
  const maintenance = {
    open,
    async turn() {
      turns += 1;
      const begun = windows.filter((one) => one.begunAtMs === null && one.startsAtMs <= clock.now());
      const ended = windows.filter(({ endsAtMs }) => endsAtMs <= clock.now());
      windows = windows
        .filter((one) => !ended.includes(one))
        .map((one) => (begun.includes(one) ? { ...one, begunAtMs: clock.now() } : one));
      return { begun, ended };
    },
  } as MaintenanceRecords;
  const log = () =>
    new MaintenanceLog({
      records: { maintenance, now: async () => clock.now() },
      audit: {
        change: async (_, work) =>
          work({ maintenance } as RecordStore, (change) => {
            notes.push(change);
          }),
      },
      fence: () => fence,
      clock,
      log: pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) }),
      onError: (error) => expect.unreachable(String(error)),
    });

  it('are noted once each by the leader, and nothing is asked for in between', async () => {
    windows = [windowAt(1_000, { carrierId: 2 })];
    const service = log();
    await service.runOnce();
    expect(turns).toBe(0);
    clock.advance(1_000);
    fence = null;
    await service.runOnce();
    expect(notes).toEqual([]);
    fence = 1;
    await service.runOnce();
    await service.runOnce();
    const trace = { taskType: null, carrierId: 2, reason: 'core swap', by: 'ann' };
    expect(notes).toMatchObject([{ action: 'maintenance.begin', object: 'maintenance 1', after: trace }]);
    clock.advance(HOUR_MS);
    await service.runOnce();
    await service.runOnce();
    expect(notes.slice(1)).toMatchObject([{ action: 'maintenance.end', before: trace, after: null }]);
    expect([turns, windows]).toEqual([2, []]);
    expect(lines).toMatchObject([
      { level: 40, msg: 'maintenance begins', what: 'all task types of carrier 2', by: 'ann' },
      { level: 30, msg: 'maintenance is over' },
    ]);
  });
});
