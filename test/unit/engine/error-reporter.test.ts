// What the log says of a part that fails again and again.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { ErrorReporter } from '../../../src/engine/error-reporter.ts';
import type { LoopErrorHandler } from '../../../src/platform/loop.ts';
import { FakeClock } from '../../support/fake-clock.ts';

let clock: FakeClock;
let lines: Array<Record<string, unknown>>;
let errors: ErrorReporter;
let report: LoopErrorHandler;

beforeEach(() => {
  clock = new FakeClock();
  lines = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  errors = new ErrorReporter(pino({ base: null, timestamp: false }, { write }), clock);
  report = errors.for('scheduler');
});

it('names the part, the reason and when it is tried again', () => {
  report(new Error('away'), 400);
  expect(lines).toEqual([
    { level: 50, part: 'scheduler', reason: 'away', retry_in_ms: 400, msg: 'part of the engine failed' },
  ]);
});

it('says the same of the same part once in ten seconds', () => {
  report(new Error('away'), 100);
  clock.advance(9_999);
  report(new Error('away'), 100);
  expect(lines).toHaveLength(1);
  clock.advance(1);
  report(new Error('away'), 100);
  expect(lines).toHaveLength(2);
});

it('says at once what another part says, and another reason', () => {
  report(new Error('away'), 100);
  errors.for('reaper')(new Error('away'), 100);
  report(new Error('full'), 100);
  expect(lines).toMatchObject([{ part: 'scheduler' }, { part: 'reaper' }, { reason: 'full' }]);
});

it('remembers a thousand reasons, and forgets them all with the next', () => {
  for (let number = 1; number <= 1_000; number += 1) report(new Error(`reason ${number}`), 100);
  report(new Error('reason 1'), 100);
  expect(lines).toHaveLength(1_000);
  report(new Error('one more'), 100);
  report(new Error('reason 1'), 100);
  expect(lines).toHaveLength(1_002);
});
