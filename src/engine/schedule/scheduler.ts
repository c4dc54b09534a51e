// Advances the rings: moves the cards of every due bucket into their type's queue. Runs on the leader. It does not decide which
// card belongs to which ring (initialiser.ts) and never calls the gateway.

import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import { CardpollError } from '../../platform/errors.ts';
import { LoopService } from '../../platform/loop.ts';
import { type RingId, type Rings, ringKey } from '../../store/ports/live/rings.ts';
import type { LeaderDeps } from '../leadership.ts';

const TICK_MS = 50;
/**
 * Interval at which unchanged configs are sent again, so that a live store that lost its data gets its rings back. Longer with
 * many configs.
 */
const RECONFIGURE_EVERY_MS = 500;
const RECONFIGURE_A_RING_MS = 10;
/**
 * A ring is asked when its next bucket is due, and at least this often, because other clients may change the ring or the clock.
 */
const ASK_EVERY_MS = 1_000;
/** One ring moves at most this many buckets (about 13,000 cards) before the next ring has its turn. */
const MAX_BUCKETS_A_TURN = 64;

export class Scheduler extends LoopService<
  LeaderDeps & {
    readonly rings: Rings;
    readonly matcher: () => ConfigMatcher;
    readonly queueCap: number;
  }
> {
  readonly name = 'scheduler';
  /** The last configs sent to the rings, as JSON. */
  #sent = '';
  /** When they were sent, by the monotonic clock. */
  #sentAt = Number.NEGATIVE_INFINITY;
  /** The cursor of each ring after its last turn. */
  readonly #cursors = new Map<string, number>();
  /** When to ask each ring again, by the monotonic clock. */
  readonly #askAt = new Map<string, number>();
  #passes = 0;

  async runOnce(signal?: AbortSignal): Promise<number> {
    const fence = this.deps.fence();
    if (fence === null) return TICK_MS;
    await this.#applySettings(fence);
    if (this.deps.fence() !== fence) return TICK_MS;
    // Rings take turns, so that one that is far behind does not delay the others.
    let behind = this.#inTurn(this.deps.matcher().configs.filter((config) => this.#isDue(config)));
    while (behind.length > 0 && !signal?.aborted) {
      const still: PollingConfig[] = [];
      for (const config of behind) if (await this.#advance(config)) still.push(config);
      behind = still;
    }
    return TICK_MS;
  }

  #isDue(config: PollingConfig): boolean {
    const askAt = this.#askAt.get(ringKey(ringOf(config))) ?? Number.NEGATIVE_INFINITY;
    return config.status === 1 && askAt <= this.deps.clock.monotonic();
  }

  /** Each pass starts with another ring: under overload only the first ring of a type finds room in the queue. */
  #inTurn(configs: readonly PollingConfig[]): PollingConfig[] {
    const first = this.#passes % Math.max(1, configs.length);
    this.#passes += 1;
    return [...configs.slice(first), ...configs.slice(0, first)];
  }

  /** Stops when this instance loses the lead in between: the next leader may already have newer configs. */
  async #applySettings(fence: number): Promise<void> {
    const configs = this.deps.matcher().configs;
    const wanted = JSON.stringify(configs);
    const now = this.deps.clock.monotonic();
    const everyMs = Math.max(RECONFIGURE_EVERY_MS, RECONFIGURE_A_RING_MS * configs.length);
    if (wanted === this.#sent && now - this.#sentAt < everyMs) return;
    if (wanted !== this.#sent) this.#askAt.clear();
    for (const config of configs) {
      if (this.deps.fence() !== fence) return;
      await this.deps.rings.configure(ringOf(config), {
        intervalMs: config.intervalSeconds * 1000,
        enabled: config.status === 1,
      });
    }
    this.#sent = wanted;
    this.#sentAt = now;
  }

  /** @returns true when more buckets of the ring may be due. */
  async #advance(config: PollingConfig): Promise<boolean> {
    const fence = this.deps.fence();
    if (fence === null) return false;
    const { queueCap, rings, clock } = this.deps;
    const limits = { maxBuckets: MAX_BUCKETS_A_TURN, queueCap, fence };
    const result = await rings.advance(ringOf(config), limits).catch((error) => {
      if (!(error instanceof CardpollError && error.code === 'ring_unknown')) throw error;
      // The live store lost its data.
      this.#sentAt = Number.NEGATIVE_INFINITY;
      return null;
    });
    if (result === null) return false;
    this.#askAt.set(ringKey(result.ring), clock.monotonic() + Math.min(ASK_EVERY_MS, result.nextDueInMs));
    const before = this.#cursors.get(ringKey(result.ring)) ?? result.ring.cursor;
    this.#cursors.set(ringKey(result.ring), result.ring.cursor);
    return result.ring.cursor - before >= MAX_BUCKETS_A_TURN && result.queueLength < queueCap;
  }
}

export function ringOf(config: PollingConfig): RingId {
  return { configId: config.id, taskType: config.taskType };
}
