// The leader's housekeeping, on the live store of this process: what dead workers held, the workers themselves, the
// partitions of the months to come, and usage of months that have not begun, which is looked for once a minute and given
// back card by card until none is left.

import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { Reaper } from '../../../../src/engine/work/reaper.ts';
import type { InstanceInfo } from '../../../../src/store/ports/live/coordination.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { FoldBackRequest, ResultRecords } from '../../../../src/store/ports/records/record-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

let clock: FakeClock;
let live: LiveStore;
let fence: number | null;
let months: string[];
let looks: number;
let lines: Array<Record<string, unknown>>;
let isAway: boolean;
let reaper: Reaper;

beforeEach(() => {
  clock = new FakeClock('2026-11-30T22:00:00Z');
  live = openLimitedLiveStore({ clock });
  [fence, months, looks, lines, isAway] = [1, [], 0, [], false];
  reaper = new Reaper({
    live,
    records: {
      now: async () => clock.now(),
      results: {
        ensurePartitions: async (month: string) => {
          if (isAway) throw new Error('away');
          months.push(month);
        },
        foldBack: async () => {
          looks += 1;
          return [];
        },
      } as unknown as ResultRecords,
    },
    calendar: new MonthCalendar('UTC'),
    leaseMs: 15_000,
    fence: () => fence,
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    onError: (error) => expect.unreachable(String(error)),
  });
});

async function dieHolding(cards: readonly number[], leaseMs: number): Promise<void> {
  await live.coordination.heartbeat({ instanceId: 'dead', roles: [] } as unknown as InstanceInfo, leaseMs);
  await live.manual.push('realname', cards.map(String));
  await live.work.claim('realname', { instanceId: 'dead', claimNumber: 1, max: cards.length, leaseMs });
}

it('takes back the slots of a dead worker after their lease, forgets the worker, and logs both', async () => {
  await dieHolding([1, 2], 15_000);
  clock.advance(14_000);
  await reaper.runOnce();
  expect(lines).toEqual([]);
  clock.advance(2_000);
  await reaper.runOnce();
  expect(await live.work.counts('realname')).toMatchObject({ inFlight: 0, manualLength: 2 });
  expect(lines).toMatchObject([
    { task_type: 'realname', slots: 2, msg: 'expired slot leases taken back' },
    { worker_id: 'dead', msg: 'instance stopped sending heartbeats: forgotten' },
  ]);
  await reaper.runOnce();
  expect(lines, 'logged once').toHaveLength(2);
});

it('reports instances that ended without a farewell for ten minutes, or until they are back', async () => {
  const beat = (instanceId: string) =>
    live.coordination.heartbeat({ instanceId, roles: [] } as unknown as InstanceInfo, 15_000);
  for (const id of ['host-n1-aaaaaa', 'host-n2-bbbbbb']) await beat(id);
  await reaper.runOnce();
  expect(reaper.gone).toEqual([]);
  clock.advance(16_000);
  await reaper.runOnce();
  expect(reaper.gone.map(({ instanceId }) => instanceId).sort()).toEqual([
    'host-n1-aaaaaa',
    'host-n2-bbbbbb',
  ]);
  await beat('host-n1-cccccc');
  await reaper.runOnce();
  expect(reaper.gone).toMatchObject([{ instanceId: 'host-n2-bbbbbb' }]);
  clock.advance(600_000);
  expect(reaper.gone).toEqual([]);
});

it('follows a clock that is set back, and says so once', async () => {
  await reaper.runOnce();
  clock.set('2026-11-30T21:00:00Z');
  await reaper.runOnce();
  await reaper.runOnce();
  expect(lines.filter(({ task_type }) => task_type === 'realname')).toMatchObject([
    { set_back_ms: 3_600_000, msg: 'clock of the live store set back: followed' },
  ]);
});

it('logs that a running count was wrong', async () => {
  const { reap } = live.work;
  live.work.reap = async (taskType) => ({
    ...(await reap.call(live.work, taskType)),
    healedFrom: taskType === 'package' ? 7 : null,
  });
  await reaper.runOnce();
  expect(lines).toMatchObject([
    { task_type: 'package', found: 7, msg: 'running count did not match the slots held: set right' },
  ]);
});

it('leaves everything alone while another instance leads', async () => {
  fence = null;
  await dieHolding([1], 1_000);
  clock.advance(60_000);
  await reaper.runOnce();
  expect([lines, months]).toEqual([[], []]);
});

it('keeps partitions ahead of the calendar, once an hour, and at once again after a failure', async () => {
  await reaper.runOnce();
  clock.advance(3_599_999);
  await reaper.runOnce();
  expect(months).toEqual(['2026-11']);
  clock.advance(1);
  await reaper.runOnce();
  expect(months).toEqual(['2026-11', '2026-11']);
  isAway = true;
  clock.advance(3_600_000);
  await dieHolding([1], 1_000);
  clock.advance(2_000);
  await expect(reaper.runOnce()).rejects.toThrow('away');
  expect(lines, 'all else is done').toMatchObject([{ slots: 1 }, { worker_id: 'dead' }]);
  isAway = false;
  await reaper.runOnce();
  expect(months).toEqual(['2026-11', '2026-11', '2026-12']);
});

it('has usage of months to come looked for, once a minute', async () => {
  for (let pass = 0; pass < 3; pass += 1) await reaper.runOnce();
  expect(looks).toBe(1);
  clock.advance(60_000);
  await reaper.runOnce();
  expect(looks).toBe(2);
});

describe('the repair of usage', () => {
  let records: FakeClock;
  let clock: FakeClock;
  let asked: FoldBackRequest[];
  let found: number[][];
  let dropped: number[];
  let lines: Array<Record<string, unknown>>;
  let reaper: Reaper;

  beforeEach(() => {
    records = new FakeClock('2026-11-29T20:00:00Z');
    [asked, found, dropped, lines] = [[], [], [], []];
    // Whatever this machine's own says.
    clock = new FakeClock('2031-01-01T00:00:00Z');
    live.cards.drop = async (cardIds) => void dropped.push(...cardIds);
    reaper = new Reaper({
      live,
      records: {
        now: async () => records.now(),
        results: {
          ensurePartitions: async () => {},
          foldBack: async (request: FoldBackRequest) => {
            asked.push(request);
            return found.shift() ?? [];
          },
        } as unknown as ResultRecords,
      },
      calendar: new MonthCalendar('Asia/Shanghai'),
      leaseMs: 15_000,
      fence: () => 1,
      clock,
      log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      onError: (error) => expect.unreachable(String(error)),
    });
  });

  it("looks for months that have begun nowhere, by the record store's clock, once a minute", async () => {
    await reaper.runOnce();
    records.advance(2 * 3_600_000);
    clock.advance(59_999);
    await reaper.runOnce();
    expect(asked).toHaveLength(1);
    clock.advance(1);
    await reaper.runOnce();
    expect(asked).toMatchObject([
      { present: '2026-11', latest: '2026-12', afterCardId: 0 },
      { present: '2026-11', latest: '2026-12', afterCardId: 0 },
    ]);
    records.set('2026-11-20T00:00:00Z');
    clock.advance(60_000);
    await reaper.runOnce();
    expect(asked.at(-1)).toMatchObject({ present: '2026-11', latest: '2026-11' });
  });

  it('continues at once while it finds cards, drops them from the cache, and logs their number', async () => {
    found = [[1, 2, 3], [9]];
    await reaper.runOnce();
    await reaper.runOnce();
    expect(lines).toEqual([]);
    await reaper.runOnce();
    expect(asked.map(({ afterCardId }) => afterCardId)).toEqual([0, 3, 9]);
    expect(dropped).toEqual([1, 2, 3, 9]);
    clock.advance(60_000);
    await reaper.runOnce();
    expect(lines).toMatchObject([{ cards: 4 }]);
  });
});
