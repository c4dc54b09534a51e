// The leader's housekeeping, twice a second: adjusts leases when the live store's clock is set back, takes back the
// slots and entries of dead workers, forgets dead instances, creates usage partitions ahead of the calendar, and
// repairs usage (usage-repair.ts). A lease also ends by itself at the next claim; the reaper keeps the counters right
// without claims.

import type { MonthCalendar } from '../../domain/cards/usage-month.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderMeans } from '../leadership.ts';
import { UsageRepair } from '../results/usage-repair.ts';

const REAP_EVERY_MS = 500;
const PARTITIONS_EVERY_MS = 3_600_000;

export class Reaper extends LoopService {
  readonly #repair: UsageRepair;
  #partitionsAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly deps: LeaderMeans & {
      readonly live: Pick<LiveStore, 'work' | 'coordination' | 'cards'>;
      readonly records: Pick<RecordStore, 'now' | 'results'>;
      readonly calendar: MonthCalendar;
      readonly leaseMs: number;
      readonly log: Logger;
    },
  ) {
    super('reaper', deps);
    this.#repair = new UsageRepair({ ...deps, cards: deps.live.cards });
  }

  async runOnce(): Promise<number> {
    if (this.deps.fence() === null) return REAP_EVERY_MS;
    const { live, leaseMs, log } = this.deps;
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
    }
    await this.#keepPartitions();
    await this.#repair.run();
    return REAP_EVERY_MS;
  }

  async #keepPartitions(): Promise<void> {
    const { clock, calendar, records } = this.deps;
    if (clock.monotonic() - this.#partitionsAt < PARTITIONS_EVERY_MS) return;
    await records.results.ensurePartitions(calendar.monthOf(await records.now()));
    this.#partitionsAt = clock.monotonic();
  }
}
