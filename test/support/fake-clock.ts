// A clock that moves only when the test says so, for what takes minutes or months: `advance` lets time pass at a stroke,
// `run` rest by rest, so that whole services live through it. Who sleeps by it, sleeps until then.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock.ts';
import { ScoreSet } from '../../src/store/memory/work/score-set.ts';

/** As Node's timers have it. */
const LEAST_REST_MS = 1;
/** Whoever is awake gets this many turns of the event loop to come to its next rest. */
const TURNS = 3;

export class FakeClock implements Clock {
  #now: number;
  #monotonic = 0;
  readonly #sleepers = new ScoreSet<() => void>();

  constructor(start: number | string = '2026-11-01T00:00:00Z') {
    this.#now = typeof start === 'number' ? start : Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (Number.isNaN(ms)) return reject(new RangeError('cannot sleep for NaN ms'));
      if (signal?.aborted === true) return resolve();
      const wake = () => {
        this.#sleepers.delete(wake);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#sleepers.set(wake, this.#monotonic + Math.max(LEAST_REST_MS, ms));
      signal?.addEventListener('abort', wake);
    });
  }

  /** How many sleep now. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  advance(ms: number): void {
    this.#moveTo(this.#monotonic + ms);
  }

  /** Lets `ms` pass, everybody waking in time and getting a turn before the next one wakes. */
  async run(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    for (;;) {
      for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
      const next = this.#sleepers.lowest();
      if (next === undefined || next.score > end) break;
      this.#moveTo(Math.max(next.score, this.#monotonic));
    }
    this.#moveTo(end);
  }

  /** Sets the wall clock alone, forwards or back, as an administrator or NTP does. */
  set(instant: number | string): void {
    this.#now = typeof instant === 'number' ? instant : Date.parse(instant);
  }

  /** @param monotonic exactly: a sum of differences might fall short of it. */
  #moveTo(monotonic: number): void {
    this.#now += monotonic - this.#monotonic;
    this.#monotonic = monotonic;
    for (const { member: wake } of this.#sleepers.takeUpTo(monotonic)) wake();
  }
}
