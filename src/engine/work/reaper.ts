// The leader's housekeeping, twice a second: adjusts leases when the live store's clock is set back, takes back the
// slots and entries of dead workers, forgets dead instances, creates usage partitions ahead of the calendar, and
// repairs usage of months to come. A lease also ends by itself at the next claim; the reaper keeps the counters right
// without claims.
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { GoneInstance } from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderDeps } from '../leadership.ts';

const REAP_EVERY_MS = 500;
const PARTITIONS_EVERY_MS = 3_600_000;
const REPAIR_EVERY_MS = 60_000;
const GONE_FOR_MS = 600_000;
const MOST_GONE = 20;
const ROWS_A_REPAIR = 5_000;
/** A month begins this much earlier in some time zones: instances may have different zones during a change of it. */
const ZONES_APART_MS = 26 * 3_600_000;

export class Reaper extends LoopService<
  LeaderDeps & {
    readonly live: Pick<LiveStore, 'work' | 'coordination' | 'cards'>;
    readonly records: Pick<RecordStore, 'now' | 'results'>;
    readonly calendar: MonthCalendar;
    readonly leaseMs: number;
    readonly log: Logger;
  }
> {
  readonly name = 'reaper';
  #partitionsAt = Number.NEGATIVE_INFINITY;
  #repairAt = Number.NEGATIVE_INFINITY;
  /** The repair of usage continues after this card id; 0: from the start. */
  #repairedTo = 0;
  #repaired = 0;
  /** Of the time that it led: when it forgot which instance. */
  #gone: readonly GoneInstance[] = [];

  /** Instances that ended without a shutdown in the last ten minutes and did not come back, newest first. */
  get gone(): readonly GoneInstance[] {
    const { clock } = this.deps;
    return this.#gone.filter(({ atMs }) => clock.now() - atMs < GONE_FOR_MS);
  }

  async runOnce(): Promise<number> {
    const { live, leaseMs, log, clock, fence } = this.deps;
    if (fence() === null) {
      this.#gone = [];
      return REAP_EVERY_MS;
    }
    for (const taskType of TASK_TYPES) {
      const setBackMs = await live.work.followClock(taskType, leaseMs);
      if (setBackMs > 0)
        log.warn(
          { task_type: taskType, set_back_ms: setBackMs },
          'clock of the live store set back: followed',
        );
      const { expiredSlots, healedFrom } = await live.work.reap(taskType);
      if (expiredSlots > 0)
        log.warn({ task_type: taskType, slots: expiredSlots }, 'expired slot leases taken back');
      if (healedFrom !== null) {
        log.warn(
          { task_type: taskType, found: healedFrom },
          'running count did not match the slots held: set right',
        );
      }
    }
    for (const instanceId of await live.coordination.reapInstances()) {
      log.warn({ worker_id: instanceId }, 'instance stopped sending heartbeats: forgotten');
      this.#gone = [{ instanceId, atMs: clock.now() }, ...this.gone].slice(0, MOST_GONE);
    }
    if (this.gone.length > 0) {
      const alive = new Set(
        (await live.coordination.instances()).map(({ instanceId }) => nameOf(instanceId)),
      );
      this.#gone = this.gone.filter(({ instanceId }) => !alive.has(nameOf(instanceId)));
    }
    await this.#repairUsage();
    // Last: a user that may not make them keeps nothing else from being done (docs/security.md).
    await this.#keepPartitions();
    return REAP_EVERY_MS;
  }

  async #keepPartitions(): Promise<void> {
    const { clock, calendar, records } = this.deps;
    if (clock.monotonic() - this.#partitionsAt < PARTITIONS_EVERY_MS) return;
    await records.results.ensurePartitions(calendar.monthOf(await records.now()));
    this.#partitionsAt = clock.monotonic();
  }

  /**
   * Moves usage from months that have not begun back to the present month. A clock that was ahead counted it there, and
   * until it is moved it does not count against the card's package (docs/decisions/0004-usage-month.md). Looks once a
   * minute, and with every pass while it finds cards. Future months are otherwise empty, so the check is cheap.
   */
  async #repairUsage(): Promise<void> {
    const { records, live, calendar, clock, log } = this.deps;
    if (clock.monotonic() < this.#repairAt) return;
    const nowMs = await records.now();
    const repaired = await records.results.foldBack({
      present: calendar.monthOf(nowMs),
      latest: calendar.monthOf(nowMs + ZONES_APART_MS),
      afterCardId: this.#repairedTo,
      limit: ROWS_A_REPAIR,
    });
    if (repaired.length > 0) await live.cards.drop(repaired);
    this.#repaired += repaired.length;
    this.#repairedTo = repaired.at(-1) ?? 0;
    if (repaired.length > 0) return;
    if (this.#repaired > 0) {
      log.warn({ cards: this.#repaired }, 'usage of future months moved to the present month');
    }
    this.#repaired = 0;
    this.#repairAt = clock.monotonic() + REPAIR_EVERY_MS;
  }
}

/** An instance that was started again has its name, and another end of its id. */
function nameOf(instanceId: string): string {
  return instanceId.replace(/-[0-9a-f]{6}$/, '');
}
