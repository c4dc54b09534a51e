import { describe, expect, it } from 'vitest';
import { type ReadingCounts, readingReasons } from '../../../../src/operations/health/reading-reasons.ts';

const reasons = (over: Partial<ReadingCounts>) =>
  readingReasons({ total: 2_000, implausible: 0, stopMode: 'enforce', ...over });

describe('readings that are not believed', () => {
  it('are a warning, with figures and the command that keeps them from stopping cards', () => {
    expect(reasons({ implausible: 1_000 })).toEqual([
      {
        code: 'implausible_readings',
        severity: 'warning',
        text:
          '1,000 of 2,000 readings of the last five minutes were not believed (50 %): they grew by more than a card can ' +
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
