// The one clock of a world. Whoever sleeps, sleeps by it; it jumps to the next sleeper only when nothing is in flight: no call of a
// port, no query, no turn of the event loop that does anything.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ScoreSet } from '../../../src/store/memory/work/score-set.ts';

/** As Node's timers have it. */
const LEAST_REST_MS = 1;
/** Turns of the event loop in which nothing happens, until nothing will. */
const QUIET_TURNS = 2;
/** At one instant. An engine that never rests needs as many, and the night ends with its name. */
const MOST_TURNS = 20_000;

export class VirtualTime {
  /** Milliseconds since the world began. */
  #now = 0;
  readonly #sleepers = new ScoreSet<() => void>();
  #activity = 0;
  #busiest = '';
  /** Queries that have not ended. */
  inFlight = 0;

  /** @param epochMs wall clock when the world begins */
  constructor(readonly epochMs: number) {}

  get now(): number {
    return this.#now;
  }

  /** The right time; instances and stores may have another one. */
  get wall(): number {
    return this.epochMs + this.#now;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Something was done at this instant, so that more may follow from it. */
  active(who: string): void {
    this.#activity += 1;
    this.#busiest = who;
  }

  /** @returns what ends the wait without `wake`. */
  after(ms: number, wake: () => void): () => void {
    const due = () => {
      this.#sleepers.delete(due);
      wake();
    };
    this.active('timer');
    this.#sleepers.set(due, this.#now + Math.max(LEAST_REST_MS, ms));
    return () => this.#sleepers.delete(due);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Lets time pass up to this instant. */
  async runTo(instant: number): Promise<void> {
    for (;;) {
      await this.#quiet();
      const next = this.#sleepers.lowest();
      if (next === undefined || next.score > instant) break;
      this.#now = Math.max(this.#now, next.score);
      for (const { member: wake } of this.#sleepers.takeUpTo(this.#now)) wake();
    }
    this.#now = Math.max(this.#now, instant);
  }

  /** Lets time pass until this has ended. */
  async runWhile<T>(work: Promise<T>, mostMs: number): Promise<T> {
    let isOver = false;
    const watched = work.finally(() => {
      isOver = true;
    });
    watched.catch(() => {});
    const end = this.#now + mostMs;
    await this.#quiet();
    while (!isOver && this.#now < end) await this.runTo(Math.min(end, this.#sleepers.lowest()?.score ?? end));
    if (!isOver) await this.#quiet();
    if (!isOver) throw new Error(`not over after ${mostMs} ms`);
    return watched;
  }

  async #quiet(): Promise<void> {
    let turns = 0;
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      const before = this.#activity;
      await nextTurn();
      turns += 1;
      if (this.#activity !== before || this.inFlight > 0) quiet = -1;
      if (turns > MOST_TURNS)
        throw new Error(`never rests: ${turns} turns at one instant, the last by ${this.#busiest}`);
    }
  }
}
