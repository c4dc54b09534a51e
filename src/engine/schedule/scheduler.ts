// Advances the rings: moves the cards of every bucket whose time has come into their type's queue. Runs on the
// leader. It does not decide which card belongs to which ring (initialiser.ts) and never calls the gateway.

import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { LoopService } from '../../platform/loop.ts';
import { type RingId, type Rings, ringKey } from '../../store/ports/live/rings.ts';
import type { LeaderMeans } from '../leadership.ts';

const TICK_MS = 50;
/** The rings of two task types are this far apart: long enough for a call to end and its result to be written. */
const STAGGER_MS = 2_000;
/** The stagger is at most this share of the interval. */
const STAGGER_SHARE = 0.1;
/** Unchanged configs are sent again this often, so that a live store that lost its data gets its rings back. */
const RECONFIGURE_EVERY_MS = 500;
/** One ring moves at most this many buckets (about 13,000 cards) before the next ring has its turn. */
const MAX_BUCKETS_A_TURN = 64;

export class Scheduler extends LoopService<
  LeaderMeans & {
    readonly rings: Rings;
    readonly matcher: () => ConfigMatcher;
    readonly queueCap: number;
  }
> {
  readonly name = 'scheduler';
  /** The configs that were sent to the rings last, as JSON. */
  #sent = '';
  /** When they were sent, by the monotonic clock. */
  #sentAt = Number.NEGATIVE_INFINITY;
  /** The cursor of each ring after its last turn. */
  readonly #cursors = new Map<string, number>();
  #passes = 0;

  async runOnce(signal?: AbortSignal): Promise<number> {
    const fence = this.deps.fence();
    if (fence === null) return TICK_MS;
    await this.#applySettings(fence);
    if (this.deps.fence() !== fence) return TICK_MS;
    // Rings take turns, so that one far behind cannot keep the others waiting.
    let behind = this.#inTurn(this.deps.matcher().configs.filter((config) => config.status === 1));
    while (behind.length > 0 && !signal?.aborted) {
      const still: PollingConfig[] = [];
      for (const config of behind) if (await this.#advance(config)) still.push(config);
      behind = still;
    }
    return TICK_MS;
  }

  /** Each pass starts with another ring: under overload only the first ring of a type finds room in the queue. */
  #inTurn(configs: readonly PollingConfig[]): PollingConfig[] {
    const first = this.#passes % Math.max(1, configs.length);
    this.#passes += 1;
    return [...configs.slice(first), ...configs.slice(0, first)];
  }

  /** Stops when this instance loses the lead in between: the next leader may already know newer configs. */
  async #applySettings(fence: number): Promise<void> {
    const configs = this.deps.matcher().configs;
    const wanted = JSON.stringify(configs);
    const now = this.deps.clock.monotonic();
    if (wanted === this.#sent && now - this.#sentAt < RECONFIGURE_EVERY_MS) return;
    for (const config of configs) {
      if (this.deps.fence() !== fence) return;
      await this.deps.rings.configure(ringOf(config), {
        intervalMs: config.intervalSeconds * 1000,
        enabled: config.status === 1,
        staggerMs: staggerOf(config),
      });
    }
    this.#sent = wanted;
    this.#sentAt = now;
  }

  /** @returns true when more buckets of the ring may be due. */
  async #advance(config: PollingConfig): Promise<boolean> {
    const fence = this.deps.fence();
    if (fence === null) return false;
    const { queueCap } = this.deps;
    const result = await this.deps.rings.advance(ringOf(config), {
      maxBuckets: MAX_BUCKETS_A_TURN,
      queueCap,
      fence,
    });
    const before = this.#cursors.get(ringKey(result.ring)) ?? result.ring.cursor;
    this.#cursors.set(ringKey(result.ring), result.ring.cursor);
    return result.ring.cursor - before >= MAX_BUCKETS_A_TURN && result.queueLength < queueCap;
  }
}

/**
 * Rings that are built together would poll a card for all three task types at once, and `package` would judge by the
 * previous usage reading.
 */
function staggerOf({ taskType, intervalSeconds }: PollingConfig): number {
  return TASK_TYPES.indexOf(taskType) * Math.min(STAGGER_MS, STAGGER_SHARE * 1_000 * intervalSeconds);
}

export function ringOf(config: PollingConfig): RingId {
  return { configId: config.id, taskType: config.taskType };
}
