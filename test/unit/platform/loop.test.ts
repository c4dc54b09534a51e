import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CardpollError } from '../../../src/platform/errors.ts';
import {
  ErrorReporter,
  failingPart,
  type LoopErrorHandler,
  LoopService,
  Pulse,
} from '../../../src/platform/loop.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';

class Subject extends LoopService {
  readonly name = 'subject';
  /** What each pass does; the milliseconds to rest. */
  pass: (signal: AbortSignal) => number | Promise<number> = () => 1_000;
  readonly begunAtMs: number[] = [];

  override async runOnce(signal: AbortSignal): Promise<number> {
    this.begunAtMs.push(clock.monotonic());
    return this.pass(signal);
  }

  hurry(): void {
    this.wake();
  }
}

let clock: FakeClock;
let subject: Subject;
const told: Array<[string, number]> = [];

beforeEach(() => {
  clock = new FakeClock();
  told.length = 0;
  const onError = (error: unknown, retryInMs: number) => told.push([(error as Error).message, retryInMs]);
  subject = new Subject({ clock, onError });
});
afterEach(() => subject.stop());

function fail(): never {
  throw new Error('away');
}

it('rests as long as a pass says', async () => {
  await subject.start();
  await clock.run(2_500);
  expect(subject.begunAtMs).toEqual([0, 1_000, 2_000]);
  expect(subject.passes).toBe(3);
  expect(subject.name).toBe('subject');
});

it('is one loop, however often it is started', async () => {
  await subject.start();
  await clock.run(10);
  await subject.start();
  await clock.run(1_000);
  expect(subject.begunAtMs).toEqual([0, 1_000]);
});

it('backs off after a pass that asks to rest for NaN', async () => {
  subject.pass = () => Number.NaN;
  await subject.start();
  await clock.run(250);
  expect(told).toEqual([
    ['subject: a pass returned NaN as its rest', 100],
    ['subject: a pass returned NaN as its rest', 200],
  ]);
});

it('goes on at once where there is no rest, and lets others have their turn', async () => {
  subject.pass = () => 0;
  await subject.start();
  await waitFor(() => subject.passes > 3, { what: 'passes without a rest' });
  expect(clock.sleepers).toBe(0);
});

it('wakes from a rest when it is hurried', async () => {
  await subject.start();
  await clock.run(10);
  subject.hurry();
  await clock.run(0);
  expect(subject.begunAtMs).toEqual([0, 10]);
});

it('tries again in ever longer pauses, at most 5 s, and starts over after a pass that went well', async () => {
  subject.pass = fail;
  await subject.start();
  await clock.run(100 + 200 + 400 + 800 + 1_600 + 3_200 + 5_000);
  expect(told.map(([, retryInMs]) => retryInMs)).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  expect(told[0]?.[0]).toBe('away');
  expect(subject.passes).toBe(8);
  subject.pass = () => 1_000;
  await clock.run(5_000);
  subject.pass = fail;
  await clock.run(1_000);
  expect(told.at(-1)).toEqual(['away', 100]);
});

it('stops when the pass under way has ended, and reports no error of it', async () => {
  let end = (_error: Error) => {};
  let aborted = false;
  subject.pass = (signal) =>
    new Promise((_resolve, reject) => {
      end = reject;
      signal.onabort = () => {
        aborted = true;
      };
    });
  await subject.start();
  await nextTurn();
  let stopped = false;
  const stop = subject.stop().then(() => {
    stopped = true;
  });
  await nextTurn();
  expect([aborted, stopped]).toEqual([true, false]);
  end(new Error('given up'));
  await stop;
  expect(told).toEqual([]);
  await clock.run(10_000);
  expect(subject.passes).toBe(1);
});

it('stops in the middle of a rest, before the start, twice, and can begin again', async () => {
  await subject.stop();
  await subject.start();
  await clock.run(10);
  await Promise.all([subject.stop(), subject.stop()]);
  expect(clock.sleepers).toBe(0);
  await subject.start();
  await clock.run(0);
  expect(subject.begunAtMs).toEqual([0, 10]);
});

describe('the pulse of loops', () => {
  it('names a loop that made no pass for more than 15 s, until it makes one', () => {
    const clock = new FakeClock();
    const [idle, stuck] = [
      { name: 'idle', passes: 0 },
      { name: 'stuck', passes: 0 },
    ];
    const pulse = new Pulse([idle, stuck], clock);
    for (let second = 0; second <= 15; second += 1) {
      expect(pulse.stuck()).toEqual([]);
      clock.advance(1_000);
      idle.passes += 1;
    }
    expect(pulse.stuck()).toEqual(['stuck']);
    stuck.passes += 1;
    expect(pulse.stuck()).toEqual([]);
  });
});

describe('the part that fails', () => {
  const refused = () => {
    throw new Error('permission denied');
  };

  it('is a loop whose passes have failed for a minute, until one ends well', async () => {
    subject.pass = refused;
    await subject.start();
    await clock.run(59_000);
    expect(failingPart([subject], clock)).toBeNull();
    await clock.run(6_000);
    expect(failingPart([subject], clock)).toEqual({
      part: 'subject',
      forMs: 65_000,
      reason: 'permission denied',
    });
    subject.pass = () => 1_000;
    await clock.run(6_000);
    expect(failingPart([subject], clock)).toBeNull();
  });

  it('is none while a store does not answer, or a lock is held', async () => {
    for (const kind of ['unavailable', 'busy'] as const) {
      subject.pass = () => {
        throw new CardpollError(kind, 'x', 'away');
      };
      await subject.start();
      await clock.run(120_000);
      expect(failingPart([subject], clock)).toBeNull();
    }
  });
});

describe('the report of failures', () => {
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
});
