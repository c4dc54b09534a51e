// When the next scheduled cleanup is due. Every instance with the role `scheduler` has one, leading or not. Used by
// cleaner.ts.
//
// A run that became due while another instance led stays due for a minute, so that it is not lost between two leaders
// (the records refuse a second run for the same time). A run missed while no instance was up is skipped. A run missed
// while a store was unavailable starts once, when the store is back.
import { Cron } from 'croner';

const HANDOVER_MS = 60_000;

export class CleanupSchedule {
  readonly #cron: Cron | null;
  #afterMs: number;
  /** The first scheduled time after `#afterMs`, epoch milliseconds; null before it is computed. */
  #nextMs: number | null = null;

  /** @param expression cron expression, or `off`. @param timeZone IANA name of the time zone of the expression. */
  constructor(expression: string, timeZone: string, nowMs: number) {
    this.#cron = expression === 'off' ? null : new Cron(expression, { timezone: timeZone });
    this.#afterMs = nowMs;
  }

  /** @returns the scheduled time of the run that is due, or null. The run stays due until `passed`. */
  due(nowMs: number): number | null {
    this.#nextMs ??= this.#cron?.nextRun(new Date(this.#afterMs))?.getTime() ?? Number.POSITIVE_INFINITY;
    return this.#nextMs <= nowMs ? this.#nextMs : null;
  }

  /** Call when a run was begun, or found running: no earlier scheduled time is due any more. */
  passed(nowMs: number): void {
    this.#afterMs = Math.max(this.#afterMs, nowMs);
    this.#nextMs = null;
  }

  /** Call while another instance leads and begins the runs. */
  leftToOthers(nowMs: number): void {
    this.passed(nowMs - HANDOVER_MS);
  }
}
