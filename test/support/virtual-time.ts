// Time that passes as fast as the machine can compute it, for real services with real timers: setTimeout and
// setInterval of this process wait for virtual milliseconds, and `run` lets them pass. Promises and setImmediate stay
// real, and get their turn between two timers.
import type { Clock } from '../../src/platform/clock.ts';
import { ScoreSet } from '../../src/store/memory/score-set.ts';

interface Timer {
  readonly call: () => void;
  readonly everyMs: number | null;
  unref(): Timer;
  ref(): Timer;
}

const REAL = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
};

export class VirtualTime implements Clock {
  #nowMs = 0;
  readonly #timers = new ScoreSet<Timer>();

  constructor(private readonly startMs = Date.parse('2026-11-01T00:00:00Z')) {}

  now(): number {
    return this.startMs + this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  install(): void {
    const add = (call: () => void, ms: number | undefined, repeats: boolean): Timer => {
      const waitMs = Math.max(1, ms ?? 1);
      const timer: Timer = {
        call,
        everyMs: repeats ? waitMs : null,
        unref: () => timer,
        ref: () => timer,
      };
      this.#timers.set(timer, this.#nowMs + waitMs);
      return timer;
    };
    const clear = (timer: unknown) => this.#timers.delete(timer as Timer);
    Object.assign(globalThis, {
      setTimeout: (call: () => void, ms?: number) => add(call, ms, false),
      setInterval: (call: () => void, ms?: number) => add(call, ms, true),
      clearTimeout: clear,
      clearInterval: clear,
    });
  }

  uninstall(): void {
    Object.assign(globalThis, REAL);
  }

  /** Lets `ms` pass. */
  async run(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    for (let next = this.#timers.lowest(); next !== undefined && next.score <= end; ) {
      this.#nowMs = next.score;
      for (const { member: timer } of this.#timers.takeUpTo(this.#nowMs)) {
        if (timer.everyMs !== null) this.#timers.set(timer, this.#nowMs + timer.everyMs);
        timer.call();
      }
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      next = this.#timers.lowest();
    }
    this.#nowMs = end;
  }
}
