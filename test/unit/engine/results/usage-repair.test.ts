// Usage of months that have not begun is looked for once a minute, and given back card by card until none is left.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/usage-month.ts';
import { UsageRepair } from '../../../../src/engine/results/usage-repair.ts';
import type { FoldBackRequest, ResultRecords } from '../../../../src/store/ports/records/result-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let records: FakeClock;
let clock: FakeClock;
let asked: FoldBackRequest[];
let found: number[][];
let dropped: number[];
let lines: Array<Record<string, unknown>>;
let repair: UsageRepair;

beforeEach(() => {
  records = new FakeClock('2026-11-29T20:00:00Z');
  [asked, found, dropped, lines] = [[], [], [], []];
  // Whatever this machine's own says.
  clock = new FakeClock('2031-01-01T00:00:00Z');
  repair = new UsageRepair({
    records: {
      now: async () => records.now(),
      results: {
        foldBack: async (request: FoldBackRequest) => {
          asked.push(request);
          return found.shift() ?? [];
        },
      } as unknown as ResultRecords,
    },
    cards: { drop: async (cardIds) => void dropped.push(...cardIds) },
    calendar: new MonthCalendar('Asia/Shanghai'),
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
  });
});

it("looks for months that have begun nowhere, by the record store's clock, once a minute", async () => {
  await repair.run();
  records.advance(2 * 3_600_000);
  clock.advance(59_999);
  await repair.run();
  expect(asked).toHaveLength(1);
  clock.advance(1);
  await repair.run();
  expect(asked).toMatchObject([
    { present: '2026-11', latest: '2026-12', afterCardId: 0 },
    { present: '2026-11', latest: '2026-12', afterCardId: 0 },
  ]);
  records.set('2026-11-20T00:00:00Z');
  clock.advance(60_000);
  await repair.run();
  expect(asked.at(-1)).toMatchObject({ present: '2026-11', latest: '2026-11' });
});

it('continues at once while it finds cards, drops them from the cache, and logs their number', async () => {
  found = [[1, 2, 3], [9]];
  await repair.run();
  await repair.run();
  expect(lines).toEqual([]);
  await repair.run();
  expect(asked.map(({ afterCardId }) => afterCardId)).toEqual([0, 3, 9]);
  expect(dropped).toEqual([1, 2, 3, 9]);
  clock.advance(60_000);
  await repair.run();
  expect(lines).toMatchObject([{ cards: 4 }]);
});
