// Reports to the live store, every two seconds, that this instance is alive and what it does, and measures the answer.
import { PRESENT_FOR_MS, type Presence } from '../health/presence.ts';
import { messageOf } from '../platform/errors.ts';
import { type LoopDeps, LoopService } from '../platform/loop.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';

const BEAT_EVERY_MS = 2_000;
const MEASURED = 3;

export class Heartbeat extends LoopService<
  LoopDeps & {
    readonly live: Pick<LiveStore, 'coordination'>;
    readonly presence: Presence;
    readonly describe: () => InstanceInfo;
  }
> {
  readonly name = 'heartbeat';
  #clockAheadMs: number | null = null;
  /** Duration of the last few heartbeats, the latest last. */
  #tookMs: readonly number[] = [];

  /** The least amount by which this machine's clock is ahead of the live store's; null before the first answer. */
  get clockAheadMs(): number | null {
    return this.#clockAheadMs;
  }

  /** The shortest of the last three heartbeats, milliseconds; null before there are three. */
  get redisMs(): number | null {
    return this.#tookMs.length < MEASURED ? null : Math.round(Math.min(...this.#tookMs));
  }

  async runOnce(): Promise<number> {
    const { live, presence, describe, clock } = this.deps;
    const sentMs = clock.now();
    const sentAt = clock.monotonic();
    presence.sending();
    try {
      const theirsMs = await live.coordination.heartbeat(describe(), PRESENT_FOR_MS);
      // The live store's time lies between sending and answer, so a slow answer must not look like a clock difference.
      this.#clockAheadMs = Math.max(0, sentMs - theirsMs) + Math.min(0, clock.now() - theirsMs);
    } catch (error) {
      presence.failed(messageOf(error));
      throw error;
    }
    this.#tookMs = [...this.#tookMs, clock.monotonic() - sentAt].slice(-MEASURED);
    presence.accepted();
    return BEAT_EVERY_MS;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.deps.live.coordination.leave(this.deps.describe().instanceId);
  }
}
