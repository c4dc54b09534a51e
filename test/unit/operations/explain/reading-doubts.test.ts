import { expect, it } from 'vitest';
import type { UsageMonth } from '../../../../src/domain/cards/usage-month.ts';
import { doubtWords } from '../../../../src/operations/explain/reading-doubts.ts';
import type { StatsReading } from '../../../../src/store/ports/live/poll-stats.ts';

const USAGE: UsageMonth = {
  month: '2026-11',
  usedMb: 900,
  lastReadingMb: 900,
  suspectedMb: null,
  jump: null,
  readAtMs: Date.UTC(2026, 10, 24, 10, 5),
};

const readings = (succeeded: number, implausible: number) => ({
  window: { succeeded, implausible } as StatsReading['window'],
});

it('says nothing about readings that are believed', () => {
  expect(doubtWords(USAGE, readings(1_000, 50))).toEqual([]);
  expect(doubtWords(null, readings(0, 0))).toEqual([]);
});

it('says which reading of the card waits to be confirmed', () => {
  expect(doubtWords({ ...USAGE, suspectedMb: 0 }, readings(1_000, 0))).toEqual([
    'its reading of 2026-11-24T10:05:00.000Z is not believed yet: 0 MB after 900 MB, which the next reading must confirm',
  ]);
});

it('says where to look when many readings of the fleet are not believed', () => {
  expect(doubtWords(USAGE, readings(1_000, 51))).toEqual([
    '51 of 1000 readings of the fleet were not believed in the last five minutes: if its own are among them, its log lines have implausible_mb',
  ]);
});
