import { describe, expect, it } from 'vitest';
import type { UsageMonth } from '../../../src/domain/cards/usage-month.ts';
import { doubtWords, type ReadingCounts, readingReasons } from '../../../src/health/reading-reasons.ts';
import type { StatsReading } from '../../../src/store/ports/live/poll-stats.ts';
import { inNumbers, READINGS } from '../../support/judged-facts.ts';

const reasons = (over: Partial<ReadingCounts>) => readingReasons({ ...READINGS, ...over });
const said = (over: Partial<ReadingCounts>) => reasons(over).map(inNumbers);

it('readings that do not grow are a warning, unless they fell', () => {
  expect(said({ stillMinutes: 12 })).toEqual(['readings_dead warning 12 2,000 5']);
  expect(said({ stillMinutes: 12, counters: 300, fallen: 300 })).toEqual([
    'readings_dead alert 300 300 5 100',
  ]);
});

describe('readings that fell, and stay there', () => {
  it('are a warning when they are a fifth, one carrier, and an alert when they are more than half', () => {
    expect(said({ counters: 300, fallen: 61 })).toEqual(['readings_dead warning 61 300 5 20.3']);
    expect(said({ counters: 300, fallen: 150 })).toEqual(['readings_dead warning 150 300 5 50']);
    expect(said({ counters: 300, fallen: 151 })).toEqual(['readings_dead alert 151 300 5 50.3']);
  });

  it.each([
    ['up to a share of 20 %', { counters: 300, fallen: 60 }],
    ['among few cards that had used something', { counters: 9, fallen: 9 }],
  ])('are no reason %s', (_, counts) => {
    expect(reasons(counts)).toEqual([]);
  });
});

describe('readings that are not believed', () => {
  it('are a warning, with figures, and an alert when they are more than half', () => {
    expect(said({ implausible: 1_000 })).toEqual(['implausible_readings warning 1,000 2,000 5 50']);
    expect(said({ implausible: 1_001 })).toEqual(['implausible_readings alert 1,001 2,000 5 50']);
  });

  it('are checked in the profile when stops are only observed', () => {
    expect(reasons({ implausible: 200, stopMode: 'observe' })).toMatchObject([
      { command: 'cardpoll gateway profiles' },
    ]);
    expect(reasons({ implausible: 200, stopMode: null })[0]?.command).toContain('stops mode observe');
  });

  it.each([
    ['without any', { total: 0 }],
    ['up to a share of 5 %', { implausible: 100 }],
    ['among few readings', { total: 9, implausible: 9 }],
  ])('are no reason %s', (_, counts) => {
    expect(reasons(counts)).toEqual([]);
  });

  it('are one among ten readings', () => {
    expect(reasons({ total: 10, implausible: 1 })).toMatchObject([{ severity: 'warning' }]);
  });
});

describe('the doubts about the readings of a card', () => {
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
    expect(
      doubtWords({ ...USAGE, lastReadingMb: 900.0000000000001, suspectedMb: 0 }, readings(1_000, 0)),
    ).toEqual([
      'its reading of 2026-11-24T10:05:00.000Z is not believed yet: 0 MB after 900 MB. It counts when further readings show that the counter restarted (within a month, after a day)',
    ]);
  });

  it('says where to look when many readings of the fleet are not believed', () => {
    expect(doubtWords(USAGE, readings(1_000, 51))).toEqual([
      '51 of 1000 readings of the fleet were not believed in the last five minutes: if its own are among them, its log lines have implausible_mb',
    ]);
  });
});
