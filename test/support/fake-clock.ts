// A clock that moves only when the test says so, for what takes minutes or months.
import type { Clock } from '../../src/platform/clock.ts';

export class FakeClock implements Clock {
  #now: number;
  #monotonic = 0;

  constructor(start: number | string = '2026-11-01T00:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#monotonic += ms;
  }

  /** Sets the wall clock alone, forwards or back, as an administrator or NTP does. */
  set(instant: number | string): void {
    this.#now = typeof instant === 'number' ? instant : Date.parse(instant);
  }
}
