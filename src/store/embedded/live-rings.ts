// Rings in this process's memory: a JavaScript Set a bucket. Same rules as src/store/redis/scripts/ring-*.lua.
import { bucketOf, dueAt } from '../../domain/phase.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { AdvanceResult, RingId, RingState, Rings } from '../live-store.ts';
import type { DueQueue } from './live-due-queue.ts';

class Generation {
  readonly #buckets: Array<Set<number> | undefined>;
  members = 0;

  constructor(
    readonly number: number,
    readonly buckets: number,
  ) {
    this.#buckets = new Array(buckets);
  }

  add(cardId: number): boolean {
    const index = bucketOf(cardId, this.buckets);
    let bucket = this.#buckets[index];
    if (bucket === undefined) {
      bucket = new Set();
      this.#buckets[index] = bucket;
    }
    if (bucket.has(cardId)) return false;
    bucket.add(cardId);
    this.members += 1;
    return true;
  }

  remove(cardId: number): boolean {
    if (this.#buckets[bucketOf(cardId, this.buckets)]?.delete(cardId) !== true) return false;
    this.members -= 1;
    return true;
  }

  has(cardId: number): boolean {
    return this.#buckets[bucketOf(cardId, this.buckets)]?.has(cardId) ?? false;
  }

  cardsOf(bucket: number): Iterable<number> {
    return this.#buckets[bucket] ?? [];
  }
}

interface Ring extends RingId {
  intervalMs: number;
  anchorMs: number;
  cursor: number;
  enabled: boolean;
  fence: number;
  lastGeneration: number;
  inUse: Generation | null;
  building: Generation | null;
}

export class EmbeddedRings implements Rings {
  readonly #rings = new Map<string, Ring>();

  constructor(
    private readonly clock: Clock,
    private readonly queueOf: (taskType: TaskType) => DueQueue,
  ) {}

  async list(): Promise<RingState[]> {
    return [...this.#rings.values()].map(stateOf);
  }

  async configure(id: RingId, settings: { intervalMs: number; enabled: boolean }): Promise<RingState> {
    const now = this.#now();
    let ring = this.#rings.get(keyOf(id));
    if (ring === undefined) {
      ring = {
        configId: id.configId,
        taskType: id.taskType,
        ...settings,
        anchorMs: now,
        cursor: 0,
        fence: 0,
        lastGeneration: 0,
        inUse: null,
        building: null,
      };
      this.#rings.set(keyOf(id), ring);
    } else if (ring.intervalMs !== settings.intervalMs || ring.enabled !== settings.enabled) {
      reanchor(ring, settings, now);
    }
    return stateOf(ring);
  }

  async startGeneration(id: RingId, buckets: number, options: { activate: boolean }): Promise<RingState> {
    const ring = this.#require(id);
    ring.lastGeneration += 1;
    ring.building = new Generation(ring.lastGeneration, buckets);
    if (options.activate) this.#switch(ring, ring.building);
    return stateOf(ring);
  }

  async activate(id: RingId): Promise<RingState> {
    const ring = this.#require(id);
    if (ring.building !== null) this.#switch(ring, ring.building);
    return stateOf(ring);
  }

  async add(id: RingId, cardIds: readonly number[]): Promise<number> {
    const ring = this.#require(id);
    if (cardIds.length > 0 && ring.inUse === null && ring.building === null) {
      throw new CardpollError(
        'conflict',
        'ring_not_built',
        `the ring of config ${id.configId} was never built`,
      );
    }
    let added = 0;
    for (const cardId of cardIds) {
      if (ring.inUse?.add(cardId)) added += 1;
      ring.building?.add(cardId);
    }
    return added;
  }

  async remove(id: RingId, cardIds: readonly number[]): Promise<number> {
    const ring = this.#rings.get(keyOf(id));
    let removed = 0;
    for (const cardId of cardIds) {
      if (ring?.inUse?.remove(cardId)) removed += 1;
      ring?.building?.remove(cardId);
    }
    return removed;
  }

  async contains(id: RingId, cardIds: readonly number[]): Promise<boolean[]> {
    const inUse = this.#rings.get(keyOf(id))?.inUse;
    return cardIds.map((cardId) => inUse?.has(cardId) ?? false);
  }

  async drop(id: RingId): Promise<void> {
    this.#rings.delete(keyOf(id));
  }

  async advance(
    id: RingId,
    limits: { maxBuckets: number; queueCap: number; fence: number },
  ): Promise<AdvanceResult> {
    const ring = this.#require(id);
    const queue = this.queueOf(id.taskType);
    const now = this.#now();
    const { inUse } = ring;
    let moved = 0;
    if (ring.enabled && inUse !== null && limits.fence >= ring.fence) {
      ring.fence = limits.fence;
      const clock = () => ({ ...ring, buckets: inUse.buckets });
      const lateMs = now - dueAt(clock(), ring.cursor);
      if (lateMs > ring.intervalMs) ring.cursor += Math.floor(lateMs / ring.intervalMs) * inUse.buckets;
      for (let left = limits.maxBuckets; left > 0 && queue.size < limits.queueCap; left -= 1) {
        const due = dueAt(clock(), ring.cursor);
        if (due > now) break;
        for (const cardId of inUse.cardsOf(ring.cursor % inUse.buckets)) {
          if (queue.addNew(cardId, Math.floor(due))) moved += 1;
        }
        ring.cursor += 1;
      }
    }
    return { ring: stateOf(ring), moved, queueLength: queue.size };
  }

  /** Every card keeps its phase; the scaled cursor is due at the same instant. */
  #switch(ring: Ring, next: Generation): void {
    if (ring.inUse === null) {
      ring.cursor = 0;
      ring.anchorMs = this.#now();
    } else {
      ring.cursor = Math.floor((ring.cursor * next.buckets) / ring.inUse.buckets);
    }
    ring.inUse = next;
    ring.building = null;
  }

  #require(id: RingId): Ring {
    const ring = this.#rings.get(keyOf(id));
    if (ring !== undefined) return ring;
    throw new CardpollError(
      'not_found',
      'ring_unknown',
      `config ${id.configId} has no ring for ${id.taskType}`,
    );
  }

  #now(): number {
    return Math.floor(this.clock.now());
  }
}

function keyOf(id: RingId): string {
  return `${id.taskType}:${id.configId}`;
}

function stateOf(ring: Ring): RingState {
  return {
    configId: ring.configId,
    taskType: ring.taskType,
    generation: ring.inUse?.number ?? 0,
    buckets: ring.inUse?.buckets ?? 0,
    intervalMs: ring.intervalMs,
    anchorMs: ring.anchorMs,
    cursor: ring.cursor,
    enabled: ring.enabled,
    members: ring.inUse?.members ?? 0,
    building:
      ring.building === null ? null : { generation: ring.building.number, buckets: ring.building.buckets },
  };
}

/** Keeps the cursor; the next bucket is due one new step from now at the latest, and never before a pause ended. */
function reanchor(ring: Ring, settings: { intervalMs: number; enabled: boolean }, nowMs: number): void {
  if (ring.inUse !== null) {
    const { buckets } = ring.inUse;
    const stepMs = settings.intervalMs / buckets;
    let due = Math.min(dueAt({ ...ring, buckets }, ring.cursor), nowMs + stepMs);
    if (settings.enabled && !ring.enabled) due = Math.max(due, nowMs);
    ring.anchorMs = due - ring.cursor * stepMs;
  }
  ring.intervalMs = settings.intervalMs;
  ring.enabled = settings.enabled;
}
