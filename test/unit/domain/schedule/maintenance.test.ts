import { describe, expect, it } from 'vitest';
import {
  isInForce,
  type MaintenanceWindow,
  maintenanceOf,
  overlapping,
  scopeWords,
  shownNow,
  startProblem,
  windowOfPause,
} from '../../../../src/domain/schedule/maintenance.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-11-30T01:00:00Z');

const windowAt = (startsAtMs: number, of: Partial<MaintenanceWindow> = {}): MaintenanceWindow => ({
  ...{ id: 1, taskType: null, carrierId: null, reason: 'vendor', by: 'ann', begunAtMs: null },
  ...{ startsAtMs, endsAtMs: startsAtMs + HOUR_MS },
  ...of,
});

describe('the start of a window', () => {
  it('is up to a year ahead, and a minute of the clocks is forgiven', () => {
    for (const ahead of [-60_000, 0, HOUR_MS, 366 * 24 * HOUR_MS])
      expect(startProblem(NOW + ahead, NOW), String(ahead)).toBeNull();
    expect(startProblem(NOW - 60_001, NOW)).toBe('must not be in the past: it is 2026-11-30T01:00:00.000Z');
    expect(startProblem(NOW + 366 * 24 * HOUR_MS + 1, NOW)).toMatch(/^must be at most 366 days ahead/);
  });
});

describe('two windows overlap', () => {
  it('where their times and what they cover do', () => {
    const one = windowAt(NOW, { taskType: 'carddata', carrierId: 2 });
    const found = (of: Partial<MaintenanceWindow>, startsAtMs = NOW) =>
      overlapping(windowAt(startsAtMs, of), [one]) === one;
    expect(found({ taskType: 'carddata', carrierId: 2 })).toBe(true);
    expect(found({}), 'all types of the fleet').toBe(true);
    expect(found({ taskType: 'carddata' })).toBe(true);
    expect(found({ carrierId: 2 })).toBe(true);
    expect(found({ carrierId: 3 })).toBe(false);
    expect(found({ taskType: 'package' })).toBe(false);
    expect(found({}, NOW + HOUR_MS), 'one begins when the other ends').toBe(false);
    expect(found({}, NOW - HOUR_MS)).toBe(false);
    expect(found({}, NOW + HOUR_MS - 1)).toBe(true);
  });
});

describe('a card is in maintenance', () => {
  it('while a window of its carrier, or of the fleet, covers the task type', () => {
    const windows = [windowAt(NOW, { taskType: 'carddata', carrierId: 2 })];
    expect(maintenanceOf(windows, 'carddata', 2, NOW)).toBe(windows[0]);
    expect(maintenanceOf(windows, 'carddata', 2, NOW + HOUR_MS), 'the end is not part of it').toBeNull();
    expect(maintenanceOf(windows, 'carddata', 2, NOW - 1)).toBeNull();
    expect(maintenanceOf(windows, 'carddata', 3, NOW)).toBeNull();
    expect(maintenanceOf(windows, 'package', 2, NOW)).toBeNull();
    expect(maintenanceOf([windowAt(NOW)], 'package', 7, NOW)).not.toBeNull();
    expect(isInForce(windowAt(NOW), NOW)).toBe(true);
  });
});

describe('a window is shown', () => {
  it('from an hour before its start until its end, the first to start first', () => {
    const [soon, running] = [windowAt(NOW + HOUR_MS, { id: 3 }), windowAt(NOW - HOUR_MS + 1, { id: 4 })];
    const [later, over] = [windowAt(NOW + HOUR_MS + 1), windowAt(NOW - HOUR_MS)];
    expect(shownNow([soon, later, over, running], NOW)).toEqual([running, soon]);
  });

  it('by what it covers', () => {
    expect(scopeWords({ taskType: null, carrierId: null })).toBe('all task types');
    expect(scopeWords({ taskType: 'package', carrierId: 0 })).toBe('package of carrier 0');
  });
});

it('a pause names the window that it is', () => {
  expect(windowOfPause('maintenance 12')).toBe(12);
  for (const other of [null, '1764464400000000']) expect(windowOfPause(other)).toBeNull();
});
