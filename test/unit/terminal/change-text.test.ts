import { expect, it } from 'vitest';
import { changeText } from '../../../src/terminal/reports/change-text.ts';

it('shows a pause with its length and without an empty reason', () => {
  const pause = (reason: string) => changeText({ before: null, after: { seconds: 28_800, reason } });
  expect(pause('')).toBe('for 8h, reason none');
  expect(pause('vendor window')).toBe('for 8h, reason vendor window');
});

it('an interval keeps the unit of its name', () => {
  const [before, after] = [{ interval_seconds: 900 }, { interval_seconds: 1_800 }];
  expect(changeText({ before, after })).toBe('interval_seconds 900 -> 1800');
});
