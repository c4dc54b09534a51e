// Removes what has expired, on the leader: takes the steps of the run that is written down, whoever began it and
// whoever took its first steps, with a pause after each. Begins runs by schedule itself. What a step does is the
// store's business.
//
// A step that fails is tried again by the loop. What waiting does not cure, or did not for a while (a transaction of
// somebody else that stays open), ends the work on that one target: the run goes on with the others and fails.

import { randomUUID } from 'node:crypto';
import { DAEMON } from '../../domain/audit.ts';
import type { MonthCalendar } from '../../domain/cards/usage-month.ts';
import { cleanupBegun } from '../../domain/cleanup.ts';
import { CLEANUP_FINISHED } from '../../domain/log-phrases.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { CleanupRecords, CleanupRun } from '../../store/ports/records/cleanup-records.ts';
import type { CleanupSchedule } from './cleanup-schedule.ts';

const LOOK_EVERY_MS = 500;
/** On a busy machine a batch takes longer, and then the polling needs the longer pause: at most a fifth of the time is spent. */
const PAUSE_PER_BATCH = 4;
/** With the loop's growing pauses this is about a minute. */
const TIMEOUTS_A_TARGET = 15;

interface CleanerDeps {
  readonly cleanup: CleanupRecords;
  readonly audit: Pick<AuditTrail, 'change'>;
  readonly schedule: CleanupSchedule;
  /** How far removed cards have been followed; null: unknown. */
  readonly changeMark: () => Promise<string | null>;
  readonly calendar: MonthCalendar;
  readonly fence: () => number | null;
  readonly clock: Clock;
  /** Least rest between two batches; 0: none at all. */
  readonly pauseMs: number;
  readonly log: Logger;
  readonly onError: LoopErrorHandler;
}

export class Cleaner extends LoopService {
  #timeouts = 0;

  constructor(private readonly deps: CleanerDeps) {
    super('cleaner', deps);
  }

  async runOnce(): Promise<number> {
    const { fence, schedule, clock } = this.deps;
    if (fence() === null) {
      schedule.leftToOthers(clock.now());
      return LOOK_EVERY_MS;
    }
    const dueMs = schedule.due(clock.now());
    if (dueMs !== null) await this.#beginScheduled(dueMs);
    return this.#step();
  }

  async #beginScheduled(dueMs: number): Promise<void> {
    const { cleanup, audit, calendar, clock, changeMark, schedule, log } = this.deps;
    const nowMs = clock.now();
    const plan = await cleanup.plan({ nowMs, calendar, changeMark: await changeMark() });
    const begun = await audit.change(DAEMON, async (records, note) => {
      const runId = randomUUID();
      if (!(await records.cleanup.begin(runId, plan, dueMs))) return false;
      note(cleanupBegun(runId, plan));
      return true;
    });
    schedule.passed(nowMs);
    if (!begun)
      log.info({ scheduled_for: new Date(dueMs).toISOString() }, 'scheduled cleanup: one runs or ran');
  }

  async #step(): Promise<number> {
    const { cleanup, pauseMs, clock } = this.deps;
    const startedMs = clock.monotonic();
    try {
      const step = await cleanup.step();
      this.#timeouts = 0;
      if (step.state === 'finished') this.#tell(step.run);
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

  #tell({ runId, status, items, batches, startedAtMs, finishedAtMs }: CleanupRun): void {
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
