// When scheduled cleanups are due: once each, handed over between leaders, not made up for.
import { describe, expect, it } from 'vitest';
import { CleanupSchedule } from '../../../../src/engine/cleanup/cleanup-schedule.ts';

const at = (time: string) => Date.parse(`2026-11-21T${time}+08:00`);
const opened = (time: string) => new CleanupSchedule('30 3 * * *', 'Asia/Shanghai', at(time));

describe('a cleanup schedule', () => {
  it('is due at its time in its zone, until that has passed', () => {
    const schedule = opened('03:00:00');
    expect(schedule.due(at('03:29:59'))).toBeNull();
    expect(schedule.due(at('03:30:01'))).toBe(at('03:30:00'));
    expect(schedule.due(at('03:40:00'))).toBe(at('03:30:00'));
    schedule.passed(at('03:40:00'));
    expect(schedule.due(at('23:59:59'))).toBeNull();
    expect(schedule.due(at('03:30:00') + 86_400_000)).toBe(at('03:30:00') + 86_400_000);
  });

  it('does not make up for what passed before it was opened', () => {
    expect(opened('03:30:00').due(at('12:00:00'))).toBeNull();
  });

  it('stays due for a minute when another instance led', () => {
    const schedule = opened('03:00:00');
    schedule.leftToOthers(at('03:30:30'));
    expect(schedule.due(at('03:30:31'))).toBe(at('03:30:00'));
    schedule.leftToOthers(at('03:31:01'));
    expect(schedule.due(at('03:31:02'))).toBeNull();
  });

  it('is never due when it is off', () => {
    expect(new CleanupSchedule('off', 'UTC', 0).due(at('03:30:00'))).toBeNull();
  });
});
