// Reports to the live store, every two seconds, that this instance is alive and what it does.
import { messageOf } from '../platform/errors.ts';
import { type LoopMeans, LoopService } from '../platform/loop.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';

const BEAT_EVERY_MS = 2_000;
const TTL_MS = 10_000;

export class Heartbeat extends LoopService<
  LoopMeans & { readonly live: Pick<LiveStore, 'coordination'>; readonly describe: () => InstanceInfo }
> {
  readonly name = 'heartbeat';
  /** When the live store last accepted a heartbeat. */
  #beatAt = this.deps.clock.monotonic();
  #failure: string | null = null;
  #clockAheadMs: number | null = null;

  /** At least how far this machine's clock is ahead of the live store's; null before the first answer. */
  get clockAheadMs(): number | null {
    return this.#clockAheadMs;
  }

  /** For how long (milliseconds) the fleet has counted this instance as gone, and why; null: it does not. */
  get outage(): { readonly lastsMs: number; readonly reason: string } | null {
    const lastsMs = this.deps.clock.monotonic() - this.#beatAt;
    return lastsMs <= TTL_MS ? null : { lastsMs, reason: this.#failure ?? 'no answer' };
  }

  /** The same as a sentence. */
  get silence(): string | null {
    const { outage } = this;
    const because = this.#failure === null ? '' : `: ${this.#failure}`;
    return outage && `heartbeat: no answer for ${Math.round(outage.lastsMs / 1000)} s${because}`;
  }

  async runOnce(): Promise<number> {
    const { live, describe, clock } = this.deps;
    const sentMs = clock.now();
    try {
      const theirsMs = await live.coordination.heartbeat(describe(), TTL_MS);
      // Their time is one between the two, so that a slow answer does not look like a difference.
      this.#clockAheadMs = Math.max(0, sentMs - theirsMs) + Math.min(0, clock.now() - theirsMs);
      this.#failure = null;
    } catch (error) {
      this.#failure = messageOf(error);
      throw error;
    }
    this.#beatAt = clock.monotonic();
    return BEAT_EVERY_MS;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.deps.live.coordination.leave(this.deps.describe().instanceId);
  }
}
