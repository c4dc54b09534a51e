// Rings in this process's memory, with the same rules as src/store/redis/schedule/ring-*.lua.
import { bucketAt, dueAt, nextResize, stepAtPhase, stepsOf } from '../../../domain/schedule/phase.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type RingGeneration,
  type RingId,
  type RingState,
  type Rings,
  ringNotBuilt,
  ringUnknown,
} from '../../ports/live/rings.ts';
import type { WorkState } from '../work/work-state.ts';
import { Generation } from './ring-generation.ts';

/** The state of a ring, with its generations themselves, and what is not shown of it. */
type Ring = Writable<Omit<RingState, keyof RingGeneration | 'building'>> & {
  staggerMs: number;
  fence: number;
  inUse: Generation | null;
  building: Generation | null;
};

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

/** After this many added cards the ring checks again whether buckets must be split. */
const CARDS_PER_GROWTH = 20_000;

export function embeddedRings(clock: Clock, work: Readonly<Record<TaskType, WorkState>>): Rings {
  const rings = new Map<string, Ring>();

  function requireRing(id: RingId): Ring {
    const ring = rings.get(keyOf(id));
    if (ring === undefined) throw ringUnknown(id);
    return ring;
  }

  function nowMs(): number {
    return Math.floor(clock.now());
  }

  return {
    list: async () => [...rings.values()].map(stateOf),

    async configure(id, { staggerMs = 0, ...settings }) {
      const now = nowMs();
      let ring = rings.get(keyOf(id));
      if (ring === undefined) {
        ring = {
          configId: id.configId,
          taskType: id.taskType,
          ...settings,
          anchorMs: now,
          staggerMs,
          cursor: 0,
          fence: 0,
          inUse: null,
          loaded: false,
          building: null,
          skippedRevolutions: 0,
          achievedIntervalMs: null,
          lapStartedAtMs: null,
        };
        rings.set(keyOf(id), ring);
      } else if (ring.intervalMs !== settings.intervalMs || ring.enabled !== settings.enabled) {
        reanchor(ring, settings, now);
      }
      ring.staggerMs = staggerMs;
    },

    async startGeneration(id, buckets, selection = '') {
      const ring = requireRing(id);
      const last = ring.building ?? ring.inUse;
      const next = new Generation((last?.number ?? 0) + 1, buckets, selection);
      if (last !== null) {
        ring.building = next;
      } else {
        ring.inUse = next;
        ring.anchorMs = nowMs() + ring.staggerMs;
      }
    },

    async activate(id) {
      const ring = requireRing(id);
      const { inUse, building } = ring;
      ring.loaded = inUse !== null;
      if (inUse === null || building === null) return;
      // Every card keeps its phase, and the scaled cursor is due at the same instant.
      const scaled = Math.floor((ring.cursor * stepsOf(building.shape)) / stepsOf(inUse.shape));
      // In the second half of a whole bucket: go back to its beginning.
      const inMiddle = bucketAt(building.shape, scaled).steps === 2 && scaled % 2 === 1;
      ring.cursor = inMiddle ? scaled - 1 : scaled;
      ring.inUse = building;
      ring.building = null;
    },

    async add(id, cardIds) {
      const ring = requireRing(id);
      if (cardIds.length > 0 && ring.inUse === null) throw ringNotBuilt(id);
      for (const [i, cardId] of cardIds.entries()) {
        if (i % CARDS_PER_GROWTH === 0) makeRoom(ring, Math.min(CARDS_PER_GROWTH, cardIds.length - i));
        ring.inUse?.add(cardId);
        ring.building?.add(cardId);
      }
    },

    async resize(id, maxSteps) {
      const ring = rings.get(keyOf(id));
      if (ring === undefined) return false;
      for (let left = maxSteps; ; left -= 1) {
        const build = generationsOf(ring).find((one) => nextResize(one.shape, one.members) !== null);
        if (build === undefined) return false;
        if (left <= 0) return true;
        if (nextResize(build.shape, build.members) === 'split') split(ring, build);
        else if (!merge(ring, build)) return true;
      }
    },

    async remove(id, cardIds) {
      const ring = rings.get(keyOf(id));
      for (const cardId of cardIds) {
        ring?.inUse?.remove(cardId);
        ring?.building?.remove(cardId);
      }
    },

    async contains(id, cardIds) {
      const inUse = rings.get(keyOf(id))?.inUse;
      return cardIds.map((cardId) => inUse?.has(cardId) ?? false);
    },

    async page(id, fromPhase, maxBuckets) {
      const inUse = rings.get(keyOf(id))?.inUse ?? null;
      if (inUse === null) return { cardIds: [], nextPhase: null };
      const { shape } = inUse;
      const cardIds: number[] = [];
      let step = stepAtPhase(shape, fromPhase);
      for (let left = maxBuckets; left > 0 && step < stepsOf(shape); left -= 1) {
        const bucket = inUse.at(step);
        cardIds.push(...bucket.cards);
        step += bucket.steps;
      }
      return { cardIds, nextPhase: step >= stepsOf(shape) ? null : step / stepsOf(shape) };
    },

    /** No bucket is ever lost here, so the count is always right. */
    async recount() {},

    async drop(id) {
      rings.delete(keyOf(id));
    },

    async advance(id, limits) {
      const ring = requireRing(id);
      const { queue } = work[id.taskType];
      const now = nowMs();
      const { inUse } = ring;
      let moved = 0;
      if (ring.enabled && inUse !== null && limits.fence >= ring.fence) {
        ring.fence = limits.fence;
        const { shape } = inUse;
        const stepMs = ring.intervalMs / stepsOf(shape);
        const lateMs = now - dueAt({ ...ring, ...shape }, ring.cursor);
        if (lateMs < -2 * stepMs - ring.staggerMs) {
          ring.anchorMs = now - (ring.cursor - 1) * stepMs;
          ring.achievedIntervalMs = null;
          ring.lapStartedAtMs = null;
        } else if (lateMs > ring.intervalMs) {
          const skipped = Math.floor(lateMs / ring.intervalMs);
          ring.skippedRevolutions += skipped;
          ring.cursor += skipped * stepsOf(shape);
        }
        const clock = { ...ring, ...shape };
        for (let left = limits.maxBuckets; left > 0 && queue.size < limits.queueCap; left -= 1) {
          const due = dueAt(clock, ring.cursor);
          if (due > now) break;
          if (ring.cursor % stepsOf(shape) === 0) {
            if (ring.lapStartedAtMs !== null) ring.achievedIntervalMs = now - ring.lapStartedAtMs;
            ring.lapStartedAtMs = now;
          }
          const { cards, steps } = inUse.at(ring.cursor);
          moved += work[id.taskType].makeDue(cards, Math.floor(due), limits.queueCap);
          ring.cursor += steps;
        }
      }
      return { ring: stateOf(ring), moved, queueLength: queue.size };
    },
  };
}

function keyOf(id: RingId): string {
  return `${id.taskType}:${id.configId}`;
}

const NEVER_BUILT = { generation: 0, buckets: 0, split: 0, members: 0, selection: '' };

function stateOf({ staggerMs: _, fence: __, inUse, building, ...state }: Ring): RingState {
  return { ...state, ...(inUse?.state ?? NEVER_BUILT), building: building?.state ?? null };
}

function generationsOf(ring: Ring): Generation[] {
  return [ring.inUse, ring.building].filter((build) => build !== null);
}

function makeRoom(ring: Ring, more: number): void {
  for (const build of generationsOf(ring)) {
    while (nextResize(build.shape, build.members + more) === 'split') split(ring, build);
  }
}

/** Splits the next bucket. The first split of a level doubles the number of steps. */
function split(ring: Ring, build: Generation): void {
  if (build === ring.inUse && build.shape.split === 0) ring.cursor *= 2;
  build.split();
}

/** @returns false when the merge must wait, because the cursor of an enabled ring is between the two halves */
function merge(ring: Ring, build: Generation): boolean {
  const inUse = build === ring.inUse;
  if (!build.merge(inUse ? ring.cursor : null)) {
    if (ring.enabled) return false;
    // In a disabled ring the first half is due again.
    ring.cursor -= 1;
    build.merge(ring.cursor);
  }
  if (inUse && build.shape.split === 0) ring.cursor /= 2;
  return true;
}

/**
 * Keeps the cursor. The next bucket is due one new step from now at the latest, and never before the end of a pause.
 */
function reanchor(ring: Ring, settings: { intervalMs: number; enabled: boolean }, nowMs: number): void {
  if (ring.inUse !== null) {
    const { shape } = ring.inUse;
    const stepMs = settings.intervalMs / stepsOf(shape);
    let due = Math.min(dueAt({ ...ring, ...shape }, ring.cursor), nowMs + stepMs);
    if (settings.enabled && !ring.enabled) due = Math.max(due, nowMs);
    ring.anchorMs = due - ring.cursor * stepMs;
    // A revolution at two speeds, or with a pause in it, has no meaningful duration.
    ring.achievedIntervalMs = null;
    ring.lapStartedAtMs = null;
  }
  ring.intervalMs = settings.intervalMs;
  ring.enabled = settings.enabled;
}
