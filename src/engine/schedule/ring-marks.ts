// Saves in the record store the time up to which each ring has handed out its due cards, because the live store may lose its
// rings: a rebuilt ring owes the turns since then. Used by the initialiser. Saved every ten seconds, so after a loss the cards of
// up to ten seconds are polled once more.
import { dueAt } from '../../domain/schedule/phase.ts';
import { schedulePaceOf } from '../../domain/schedule/schedule-pace.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import { type RingState, ringKey } from '../../store/ports/live/rings.ts';
import type { ConfigRecords, RingMark } from '../../store/ports/records/record-store.ts';

const SAVE_EVERY_MS = 10_000;

export class RingMarks {
  /** Time of the next save, on the monotonic clock. */
  #saveAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly deps: {
      readonly live: Pick<LiveStore, 'work' | 'now'>;
      readonly records: { readonly configs: Pick<ConfigRecords, 'ringMarks' | 'saveRingMarks'> };
      readonly clock: Clock;
      readonly requireLead: () => void;
    },
  ) {}

  /** @returns the mark by ring key, for the lost rings: no generation of them is left. */
  async owedFrom(rings: readonly RingState[]): Promise<ReadonlyMap<string, number>> {
    const lost = new Set(rings.filter((ring) => ring.enabled && ring.generation === 0).map(ringKey));
    if (lost.size === 0) return new Map();
    const marks = await this.deps.records.configs.ringMarks();
    return new Map(
      marks.filter((mark) => lost.has(ringKey(mark))).map((mark) => [ringKey(mark), mark.handedOutMs]),
    );
  }

  /** Skips rings that are not loaded (they still owe their earlier turns) or do not turn. */
  async save(rings: readonly RingState[]): Promise<void> {
    const { live, records, clock } = this.deps;
    if (clock.monotonic() < this.#saveAt) return;
    const nowMs = await live.now();
    const marks: RingMark[] = [];
    for (const taskType of TASK_TYPES) {
      const turning = rings.filter((ring) => ring.taskType === taskType && ring.enabled && ring.loaded);
      if (turning.length === 0) continue;
      // The queue would be lost with the ring. It holds the last cards handed out, as many as fall due in this time.
      const { due } = await live.work.counts(taskType);
      const { demandPerSecond } = schedulePaceOf(turning, nowMs);
      const waitingMs = demandPerSecond === 0 ? 0 : (1_000 * due) / demandPerSecond;
      for (const ring of turning)
        marks.push({
          configId: ring.configId,
          taskType,
          handedOutMs: Math.min(nowMs, dueAt(ring, ring.cursor)) - waitingMs,
        });
    }
    this.deps.requireLead();
    if (marks.length > 0) await records.configs.saveRingMarks(marks);
    this.#saveAt = clock.monotonic() + SAVE_EVERY_MS;
  }
}
