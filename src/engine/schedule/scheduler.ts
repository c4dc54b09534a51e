// Advances the rings: moves the cards of every bucket whose time has come into their type's queue. Runs on the
// leader. It does not decide which card belongs to which ring (initialiser.ts) and never calls the gateway.

import type { PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { RingId, Rings } from '../../store/ports/live/rings.ts';

const TICK_MS = 50;
/** Between two task types: a call and what is made of it are over by then. */
const STAGGER_MS = 2_000;
/** Of an interval, at most. */
const STAGGER_SHARE = 0.1;
/** Settings are sent again this often even when unchanged: a store that lost its data gets its rings back. */
const RECONFIGURE_EVERY_MS = 500;
/** Buckets moved for one ring before the next ring has its turn: about 13,000 cards. */
const MAX_BUCKETS_A_TURN = 64;

export class Scheduler extends LoopService {
  /** What the rings were told last, and when. */
  #told = '';
  #toldAt = Number.NEGATIVE_INFINITY;
  /** Where each ring's cursor stood after its last turn, by ring. */
  readonly #cursors = new Map<string, number>();
  #passes = 0;

  constructor(
    private readonly deps: {
      readonly rings: Rings;
      readonly configs: () => readonly PollingConfig[];
      readonly fence: () => number | null;
      readonly queueCap: number;
      readonly clock: Clock;
      readonly onError: LoopErrorHandler;
    },
  ) {
    super('scheduler', deps);
  }

  async runOnce(signal?: AbortSignal): Promise<number> {
    const fence = this.deps.fence();
    if (fence === null) return TICK_MS;
    await this.#applySettings(fence);
    if (this.deps.fence() !== fence) return TICK_MS;
    // Rings take turns, so that one far behind cannot keep the others waiting.
    let behind = this.#inTurn(this.deps.configs().filter((config) => config.status === 1));
    while (behind.length > 0 && !signal?.aborted) {
      const still: PollingConfig[] = [];
      for (const config of behind) if (await this.#advance(config)) still.push(config);
      behind = still;
    }
    return TICK_MS;
  }

  /** Another ring comes first with every pass: in overload only the first of a type finds room in the queue. */
  #inTurn(configs: readonly PollingConfig[]): PollingConfig[] {
    const first = this.#passes % Math.max(1, configs.length);
    this.#passes += 1;
    return [...configs.slice(first), ...configs.slice(0, first)];
  }

  /** What is not carried out under the lead with which it began, ends: the next leader may know other configs. */
  async #applySettings(fence: number): Promise<void> {
    const configs = this.deps.configs();
    const told = JSON.stringify(configs);
    const now = this.deps.clock.monotonic();
    if (told === this.#told && now - this.#toldAt < RECONFIGURE_EVERY_MS) return;
    for (const config of configs) {
      if (this.deps.fence() !== fence) return;
      await this.deps.rings.configure(ringOf(config), {
        intervalMs: config.intervalSeconds * 1000,
        enabled: config.status === 1,
        staggerMs: staggerOf(config),
      });
    }
    this.#told = told;
    this.#toldAt = now;
  }

  /** @returns true when the ring may have more buckets due. */
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

/** Rings that are built together would ask for a card three times at once, and `package` would judge by the reading before. */
function staggerOf({ taskType, intervalSeconds }: PollingConfig): number {
  return TASK_TYPES.indexOf(taskType) * Math.min(STAGGER_MS, STAGGER_SHARE * 1_000 * intervalSeconds);
}

export function ringOf(config: PollingConfig): RingId {
  return { configId: config.id, taskType: config.taskType };
}

/** A config whose task type changed has another ring. */
export function ringKey(ring: RingId): string {
  return `${ring.taskType}:${ring.configId}`;
}
