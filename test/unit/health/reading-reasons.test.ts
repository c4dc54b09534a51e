import { describe, expect, it } from 'vitest';
import type { UsageMonth } from '../../../src/domain/cards/usage-month.ts';
import { doubtWords, type ReadingCounts, readingReasons } from '../../../src/health/reading-reasons.ts';
import type { StatsReading } from '../../../src/store/ports/live/poll-stats.ts';

const reasons = (over: Partial<ReadingCounts>) =>
  readingReasons({
    total: 2_000,
    seconds: 300,
    implausible: 0,
    counters: 0,
    fallen: 0,
    stillMinutes: null,
    stopMode: 'enforce',
    ...over,
  });

it('readings that do not grow are a warning, unless they fell', () => {
  expect(reasons({ stillMinutes: 12 })).toEqual([
    {
      code: 'readings_dead',
      severity: 'warning',
      text:
        'no reading has grown for 12 min, and at this hour of the last days readings did (2,000 in the last 5 min): ' +
        'the gateway may answer with old usage, and no card that goes over its package is found; compare some with the carrier',
      command: 'cardpoll gateway try --interface flow',
    },
  ]);
  expect(reasons({ stillMinutes: 12, counters: 300, fallen: 300 })).toMatchObject([{ severity: 'alert' }]);
});

describe('readings that fell, and stay there', () => {
  it('are an alert when they are more than half of those of cards that had used something', () => {
    expect(reasons({ counters: 300, fallen: 300 })).toEqual([
      {
        code: 'readings_dead',
        severity: 'alert',
        text:
          '300 of 300 readings of the last 5 min show less than half of what their cards had used (100 %), not for the first time: ' +
          'the usage of these cards is not known any more, and none that goes over its package is stopped; compare some with the carrier',
        command: 'cardpoll gateway try --interface flow',
      },
    ]);
  });

  it('are a warning when they are a fifth: one carrier', () => {
    expect(reasons({ counters: 300, fallen: 61 })).toMatchObject([
      { code: 'readings_dead', severity: 'warning' },
    ]);
  });

  it.each([
    ['up to a share of 20 %', { counters: 300, fallen: 60 }],
    ['among few cards that had used something', { counters: 9, fallen: 9 }],
  ])('are no reason %s', (_, counts) => {
    expect(reasons(counts)).toEqual([]);
  });
});

describe('readings that are not believed', () => {
  it('are a warning, with figures and the command that keeps them from stopping cards', () => {
    expect(reasons({ implausible: 1_000 })).toEqual([
      {
        code: 'implausible_readings',
        severity: 'warning',
        text:
          '1,000 of 2,000 readings of the last 5 min were not believed (50 %): they grew by more than a card can ' +
          'transfer, and count nothing; compare some with the carrier, and check the unit of the gateway profile',
        command: "cardpoll stops mode observe --reason 'readings are not believed'",
      },
    ]);
  });

  it('are an alert when they are more than half', () => {
    expect(reasons({ implausible: 1_001 })).toMatchObject([{ severity: 'alert' }]);
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
