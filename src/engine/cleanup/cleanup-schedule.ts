// When the next scheduled cleanup is due. Every instance with the role keeps one, leading or not; the cleaner asks it.
//
// An instant that passed while another instance led stays due for a minute, so that it is not lost between two leaders
// (the records refuse a second run for it). What passed while no instance ran is not made up for; what passed while a
// store was away is begun once when it is back.
import { Cron } from 'croner';

const HANDOVER_MS = 60_000;

export class CleanupSchedule {
  readonly #cron: Cron | null;
  #afterMs: number;
  /** First instant after `#afterMs`; null: not looked up yet. */
  #nextMs: number | null = null;

  /** @param expression cron expression, or `off`. @param timeZone IANA name of the zone the expression is meant in. */
  constructor(expression: string, timeZone: string, nowMs: number) {
    this.#cron = expression === 'off' ? null : new Cron(expression, { timezone: timeZone });
    this.#afterMs = nowMs;
  }

  /** The instant a run is due for; null: none is. Stays due until `passed`. */
  due(nowMs: number): number | null {
    this.#nextMs ??= this.#cron?.nextRun(new Date(this.#afterMs))?.getTime() ?? Number.POSITIVE_INFINITY;
    return this.#nextMs <= nowMs ? this.#nextMs : null;
  }

  /** A run was begun, or found running: nothing up to now is due any more. */
  passed(nowMs: number): void {
    this.#afterMs = Math.max(this.#afterMs, nowMs);
    this.#nextMs = null;
  }

  /** Another instance leads and sees to what is due. */
  leftToOthers(nowMs: number): void {
    this.passed(nowMs - HANDOVER_MS);
  }
}
