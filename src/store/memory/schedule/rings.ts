// Rings in this process's memory, with the same rules as src/store/redis/schedule/ring-*.lua. Each bucket is a JavaScript
// Set, which may have any size: buckets are neither split nor merged.
import { sum } from '../../../domain/numbers.ts';
import { anchorAfter, beginningOf, bucketOf } from '../../../domain/schedule/phase.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type RingGeneration,
  type RingId,
  type RingState,
  type Rings,
  ringKey,
  ringNotBuilt,
  ringUnknown,
} from '../../ports/live/rings.ts';
import type { WorkState } from '../work/work-state.ts';

/** The state of a ring, with the buckets of its generations and internal fields. */
type Ring = Writable<Omit<RingState, keyof RingGeneration | 'building'>> & {
  fence: number;
  /** The ring owes the turns since this time, while it is loaded again. */
  owedMs: number | null;
  inUse: Generation | null;
  building: Generation | null;
};

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** One build of a ring's buckets. */
class Generation {
  readonly #buckets: ReadonlyArray<Set<number>>;

  constructor(
    readonly number: number,
    buckets: number,
    readonly selection: string,
  ) {
    this.#buckets = Array.from({ length: buckets }, () => new Set());
  }

  get steps(): number {
    return this.#buckets.length;
  }

  get state(): RingGeneration {
    const { number: generation, steps: buckets, selection } = this;
    return { generation, buckets, split: 0, members: sum(this.#buckets.map(({ size }) => size)), selection };
  }

  /** The bucket that holds a card. */
  of(cardId: number): Set<number> {
    return this.at(bucketOf(cardId, this.steps));
  }

  at(step: number): Set<number> {
    return this.#buckets[step % this.steps] as Set<number>;
  }
}

export function embeddedRings(clock: Clock, work: Readonly<Record<TaskType, WorkState>>): Rings {
  const rings = new Map<string, Ring>();

  function requireRing(id: RingId): Ring {
    const ring = rings.get(ringKey(id));
    if (ring === undefined) throw ringUnknown(id);
    return ring;
  }

  function nowMs(): number {
    return Math.floor(clock.now());
  }

  return {
    list: async () => [...rings.values()].map(stateOf),

    async configure(id, settings) {
      let ring = rings.get(ringKey(id));
      if (ring === undefined) {
        ring = {
          configId: id.configId,
          taskType: id.taskType,
          ...settings,
          anchorMs: 0,
          cursor: 0,
          fence: 0,
          owedMs: null,
          inUse: null,
          loaded: false,
          building: null,
          joinedAfterId: 0,
          skippedRevolutions: 0,
          achievedIntervalMs: null,
          lapStartedAtMs: null,
        };
        rings.set(ringKey(id), ring);
      } else if (ring.intervalMs !== settings.intervalMs || ring.enabled !== settings.enabled) {
        reanchor(ring, settings, nowMs());
      }
    },

    async startGeneration(id, buckets, { selection = '', afterId = 0, owedFromMs = null } = {}) {
      const ring = requireRing(id);
      const last = ring.building ?? ring.inUse;
      ring.joinedAfterId = afterId;
      const next = new Generation((last?.number ?? 0) + 1, buckets, selection);
      if (last !== null) {
        ring.building = next;
      } else {
        ring.inUse = next;
        const { taskType, intervalMs } = ring;
        const now = nowMs();
        Object.assign(ring, beginningOf(taskType, intervalMs, buckets, now));
        if (owedFromMs !== null && owedFromMs < now)
          ring.owedMs = owedFromMs + Math.floor((now - owedFromMs) / intervalMs) * intervalMs;
      }
    },

    async activate(id) {
      const ring = requireRing(id);
      const { inUse, building } = ring;
      ring.loaded = inUse !== null;
      if (inUse === null || building === null) return;
      // Every card keeps its phase, and the scaled cursor is due at the same instant.
      ring.cursor = Math.floor((ring.cursor * building.steps) / inUse.steps);
      ring.inUse = building;
      ring.building = null;
    },

    async add(id, cardIds, owed) {
      const ring = requireRing(id);
      const { taskType, inUse, owedMs } = ring;
      if (cardIds.length > 0 && inUse === null) throw ringNotBuilt(id);
      const { queue } = work[taskType];
      for (const cardId of cardIds) {
        if (inUse !== null && owedMs !== null && !ring.loaded && queue.size < (owed?.queueCap ?? 0)) {
          const due = lastDueOf(ring, inUse, bucketOf(cardId, inUse.steps));
          if (due >= owedMs) work[taskType].makeDue([cardId], Math.floor(due), owed?.queueCap ?? 0);
        }
        ring.inUse?.of(cardId).add(cardId);
        ring.building?.of(cardId).add(cardId);
      }
    },

    resize: async () => false,

    async remove(id, cardIds) {
      const ring = rings.get(ringKey(id));
      for (const cardId of cardIds) {
        ring?.inUse?.of(cardId).delete(cardId);
        ring?.building?.of(cardId).delete(cardId);
      }
    },

    async contains(id, cardIds) {
      const inUse = rings.get(ringKey(id))?.inUse;
      return cardIds.map((cardId) => inUse?.of(cardId).has(cardId) ?? false);
    },

    async page(id, fromPhase, maxBuckets) {
      const inUse = rings.get(ringKey(id))?.inUse ?? null;
      if (inUse === null) return { cardIds: [], nextPhase: null };
      const { steps } = inUse;
      const from = Math.ceil(fromPhase * steps);
      const end = Math.min(steps, from + maxBuckets);
      const cardIds = Array.from({ length: end - from }, (_, i) => [...inUse.at(from + i)]).flat();
      return { cardIds, nextPhase: end === steps ? null : end / steps };
    },

    /** No bucket is ever lost here, so the count is always right. */
    async recount() {},

    async drop(id) {
      rings.delete(ringKey(id));
    },

    async advance(id, limits) {
      const ring = requireRing(id);
      const { queue } = work[id.taskType];
      const now = nowMs();
      const { inUse } = ring;
      let moved = 0;
      if (ring.enabled && inUse !== null && limits.fence >= ring.fence) {
        ring.fence = limits.fence;
        const { steps } = inUse;
        const stepMs = ring.intervalMs / steps;
        const lateMs = now - dueOf(ring, inUse);
        if (lateMs < -4 * stepMs) {
          ring.anchorMs = now - (ring.cursor - 1) * stepMs;
          ring.achievedIntervalMs = null;
          ring.lapStartedAtMs = null;
        } else if (lateMs > ring.intervalMs) {
          const skipped = Math.floor(lateMs / ring.intervalMs);
          ring.skippedRevolutions += skipped;
          ring.cursor += skipped * steps;
        }
        for (let left = limits.maxBuckets; left > 0 && queue.size < limits.queueCap; left -= 1) {
          const due = dueOf(ring, inUse);
          if (due > now) break;
          if (ring.cursor % steps === 0) {
            if (ring.lapStartedAtMs !== null) ring.achievedIntervalMs = now - ring.lapStartedAtMs;
            ring.lapStartedAtMs = now;
          }
          moved += work[id.taskType].makeDue(inUse.at(ring.cursor), Math.floor(due), limits.queueCap);
          ring.anchorMs = anchorAfter(ring, stepMs);
          ring.cursor += 1;
        }
      }
      const nextDueInMs = inUse === null ? Number.POSITIVE_INFINITY : dueOf(ring, inUse) - now;
      return { ring: stateOf(ring), moved, queueLength: queue.size, nextDueInMs };
    },
  };
}

const NEVER_BUILT = { generation: 0, buckets: 0, split: 0, members: 0, selection: '' };

function stateOf({ fence: _, owedMs: __, inUse, building, ...state }: Ring): RingState {
  return { ...state, ...(inUse?.state ?? NEVER_BUILT), building: building?.state ?? null };
}

/** When the bucket at the cursor is due. */
function dueOf(ring: Ring, { steps }: Generation): number {
  return ring.anchorMs + (ring.cursor * ring.intervalMs) / steps;
}

/** The last time at which the cursor passed a due bucket. */
function lastDueOf(ring: Ring, { steps }: Generation, bucket: number): number {
  const passed = ring.cursor - 1;
  return ring.anchorMs + ((passed - ((passed - bucket + steps) % steps)) * ring.intervalMs) / steps;
}

/**
 * Keeps the cursor. The next bucket is due one new step from now at the latest, and never before the end of a pause.
 */
function reanchor(ring: Ring, settings: { intervalMs: number; enabled: boolean }, nowMs: number): void {
  if (ring.inUse !== null) {
    const stepMs = settings.intervalMs / ring.inUse.steps;
    let due = Math.min(dueOf(ring, ring.inUse), nowMs + stepMs);
    if (settings.enabled && !ring.enabled) due = Math.max(due, nowMs);
    ring.anchorMs = due - ring.cursor * stepMs;
    // A revolution at two speeds, or with a pause in it, has no meaningful duration.
    ring.achievedIntervalMs = null;
    ring.lapStartedAtMs = null;
  }
  ring.intervalMs = settings.intervalMs;
  ring.enabled = settings.enabled;
}
