// Removes expired data, on the leader: takes the next step of the recorded run, no matter which instance began it, and pauses
// after each step. The record store decides what a step does.
//
// Starts scheduled runs itself. A run that became due while another instance led stays due for a minute, so a change of leader
// cannot lose it (the records refuse a second run for the same time). A run missed while no instance was up is skipped. A run
// missed while a store was unavailable starts once, when the store is back. A run is due when both this machine's clock and the
// record store's clock say so.
//
// The loop repeats a failed step. A permanent error, or one that lasts (such as another client's transaction that stays open),
// ends the work on that target: the run continues with the other targets and fails.
import { randomUUID } from 'node:crypto';
import { Cron } from 'croner';
import { DAEMON } from '../../domain/audit.ts';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import { cleanupBegun } from '../../domain/cleanup.ts';
import { CLEANUP_FINISHED } from '../../domain/log-phrases.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { CleanupRecords, CleanupRun } from '../../store/ports/records/cleanup-records.ts';
import { earlierTime, type RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 500;
/** The pause is this many times as long as the batch, so cleanup uses at most a fifth of the time of a busy machine. */
const PAUSE_PER_BATCH = 4;
/** Timeouts in a row before a target is skipped: about a minute with the loop's growing pauses. */
const TIMEOUTS_A_TARGET = 15;
/** A run that became due stays due this long for the next leader. */
const HANDOVER_MS = 60_000;
const HOUR_MS = 3_600_000;

interface CleanerDeps extends LeaderDeps {
  readonly cleanup: CleanupRecords;
  readonly records: Pick<RecordStore, 'now'>;
  readonly audit: Pick<AuditTrail, 'change'>;
  /** Cron expression in the time zone of the calendar, or `off`. */
  readonly schedule: string;
  /** The change mark up to which removed cards were applied to the rings; null if unknown. */
  readonly changeMark: () => Promise<string | null>;
  readonly calendar: MonthCalendar;
  /** Shortest pause between two batches, milliseconds; 0: no pause. */
  readonly pauseMs: number;
  readonly log: Logger;
}

export class Cleaner extends LoopService<CleanerDeps> {
  readonly name = 'cleaner';
  readonly #cron =
    this.deps.schedule === 'off'
      ? null
      : new Cron(this.deps.schedule, { timezone: this.deps.calendar.timeZone });
  /** Scheduled runs up to this time are not started any more, epoch milliseconds. */
  #passedMs = this.deps.clock.now();
  #timeouts = 0;

  async runOnce(): Promise<number> {
    const { fence, clock, records } = this.deps;
    // After the clock was set back, the old value would block runs until the clock reaches it again.
    this.#passedMs = Math.min(this.#passedMs, clock.now());
    if (fence() === null) {
      this.#passedMs = Math.max(this.#passedMs, clock.now() - HANDOVER_MS);
      return LOOK_EVERY_MS;
    }
    const dueMs = this.#nextRunMs();
    if (dueMs <= clock.now()) {
      const nowMs = await earlierTime(clock, records);
      if (dueMs <= nowMs) await this.#beginScheduled(dueMs, nowMs);
    }
    return this.#step();
  }

  /** In the hour that occurs twice, the library may return the first occurrence although it has passed. */
  #nextRunMs(): number {
    const after = (ms: number) => this.#cron?.nextRun(new Date(ms))?.getTime() ?? Number.POSITIVE_INFINITY;
    const next = after(this.#passedMs);
    return next > this.#passedMs ? next : after(this.#passedMs + HOUR_MS);
  }

  async #beginScheduled(dueMs: number, nowMs: number): Promise<void> {
    const { cleanup, audit, calendar, changeMark, log } = this.deps;
    const plan = await cleanup.plan({ nowMs, calendar, changeMark: await changeMark() });
    const begun = await audit.change(DAEMON, async (records, note) => {
      const runId = randomUUID();
      if (!(await records.cleanup.begin(runId, plan, dueMs))) return false;
      note(cleanupBegun(runId, plan));
      return true;
    });
    this.#passedMs = nowMs;
    if (!begun)
      log.info(
        { scheduled_for: new Date(dueMs).toISOString() },
        'scheduled cleanup skipped: already run or running',
      );
  }

  async #step(): Promise<number> {
    const { cleanup, pauseMs, clock } = this.deps;
    const startedMs = clock.monotonic();
    try {
      const step = await cleanup.step();
      this.#timeouts = 0;
      if (step.state === 'finished') this.#report(step.run);
      if (step.state === 'idle') return LOOK_EVERY_MS;
      if (step.state === 'finished' || step.deleted === 0 || pauseMs === 0) return 0;
      return Math.max(pauseMs, PAUSE_PER_BATCH * (clock.monotonic() - startedMs));
    } catch (error) {
      if (!this.#isHopeless(error)) throw error;
      await cleanup.skipTarget(messageOf(error));
      this.#timeouts = 0;
      return pauseMs;
    }
  }

  #isHopeless(error: unknown): boolean {
    if (!(error instanceof CardpollError) || error.kind !== 'unavailable') return true;
    if (error.code !== 'postgres_timeout') return false;
    this.#timeouts += 1;
    return this.#timeouts >= TIMEOUTS_A_TARGET;
  }

  #report({ runId, status, items, batches, startedAtMs, finishedAtMs }: CleanupRun): void {
    const fields = {
      run_id: runId,
      status,
      deleted: items.reduce((sum, item) => sum + item.deleted, 0),
      by_target: Object.fromEntries(items.map((item) => [item.target, item.deleted])),
      batches,
      duration_ms: (finishedAtMs ?? startedAtMs) - startedAtMs,
    };
    const failures = items.filter((item) => item.error !== null);
    if (failures.length === 0) this.deps.log.info(fields, CLEANUP_FINISHED);
    else {
      const errors = Object.fromEntries(failures.map((item) => [item.target, item.error]));
      this.deps.log.error({ ...fields, errors }, CLEANUP_FINISHED);
    }
  }
}
