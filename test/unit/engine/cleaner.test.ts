// When the cleaner gives a target up: never for an outage, at once for what waiting does not cure. The records are a
// stand-in that fails as told; what steps do is proven in contract/record-store/cleanup.test.ts.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { MonthCalendar } from '../../../src/domain/usage-month.ts';
import { Cleaner } from '../../../src/engine/cleaner.ts';
import { CleanupSchedule } from '../../../src/engine/cleanup-schedule.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import type { CleanupRecords, CleanupStep } from '../../../src/store/ports/cleanup-records.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const UNREACHABLE = new CardpollError('unavailable', 'postgres_unreachable', 'away');
const TIMEOUT = new CardpollError('unavailable', 'postgres_timeout', 'somebody holds a lock');

let fence: number | null;
let step: () => Promise<CleanupStep>;
let skipped: string[];
let cleaner: Cleaner;

beforeEach(() => {
  const clock = new FakeClock();
  fence = 1;
  skipped = [];
  step = async () => ({ state: 'idle' });
  const cleanup: Partial<CleanupRecords> = {
    step: () => step(),
    skipTarget: async (reason) => void skipped.push(reason),
  };
  cleaner = new Cleaner({
    cleanup: cleanup as CleanupRecords,
    audit: { change: () => Promise.reject(new Error('nothing is scheduled')) },
    schedule: new CleanupSchedule('off', 'UTC', clock.now()),
    changeMark: async () => null,
    calendar: new MonthCalendar('UTC'),
    fence: () => fence,
    clock,
    pauseMs: 10,
    log: pino({ enabled: false }),
    onError: (error) => expect.unreachable(String(error)),
  });
});

const failing = (error: unknown) => async (): Promise<never> => {
  throw error;
};

it('waits for a store that is away, as long as it takes', async () => {
  step = failing(UNREACHABLE);
  for (let pass = 0; pass < 50; pass += 1) await expect(cleaner.runOnce()).rejects.toBe(UNREACHABLE);
  expect(skipped).toEqual([]);
});

it('gives a target up after fifteen timeouts in a row', async () => {
  const timeouts = async (count: number) => {
    step = failing(TIMEOUT);
    for (let pass = 0; pass < count; pass += 1) await expect(cleaner.runOnce()).rejects.toBe(TIMEOUT);
  };
  await timeouts(14);
  step = async () => ({ state: 'going', deleted: 5 });
  await cleaner.runOnce();
  await timeouts(14);
  expect(skipped).toEqual([]);
  await cleaner.runOnce();
  expect(skipped).toEqual(['somebody holds a lock']);
  await timeouts(14);
});

it.each([
  ['a refusal of the store', new CardpollError('invalid', 'value_refused', 'no such column')],
  ['a bug', new TypeError('no such column')],
])('gives a target up at once for %s', async (_, error) => {
  step = failing(error);
  await cleaner.runOnce();
  expect(skipped).toEqual(['no such column']);
});

it('takes no step while another instance leads', async () => {
  fence = null;
  step = failing(new Error('a step was taken'));
  expect(await cleaner.runOnce()).toBeGreaterThan(0);
});
