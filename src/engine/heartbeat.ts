// Reports to the live store, every two seconds, that this instance is alive and what it does.
import { messageOf } from '../platform/errors.ts';
import { type LoopMeans, LoopService } from '../platform/loop.ts';
import type { Coordination, InstanceInfo } from '../store/ports/live/coordination.ts';

const BEAT_EVERY_MS = 2_000;
const TTL_MS = 10_000;

export class Heartbeat extends LoopService {
  #beatAt: number;
  #failure: string | null = null;

  constructor(
    private readonly coordination: Coordination,
    private readonly describe: () => InstanceInfo,
    private readonly loopMeans: LoopMeans,
  ) {
    super('heartbeat', loopMeans);
    this.#beatAt = loopMeans.clock.monotonic();
  }

  /** Milliseconds since the live store last accepted a heartbeat. */
  get silentMs(): number {
    return this.loopMeans.clock.monotonic() - this.#beatAt;
  }

  /** Why the fleet counts this instance as gone, a sentence; null: it does not. */
  get silence(): string | null {
    const { silentMs } = this;
    if (silentMs <= TTL_MS) return null;
    const because = this.#failure === null ? '' : `: ${this.#failure}`;
    return `heartbeat: no answer for ${Math.round(silentMs / 1000)} s${because}`;
  }

  async runOnce(): Promise<number> {
    try {
      await this.coordination.heartbeat(this.describe(), TTL_MS);
      this.#failure = null;
    } catch (error) {
      this.#failure = messageOf(error);
      throw error;
    }
    this.#beatAt = this.loopMeans.clock.monotonic();
    return BEAT_EVERY_MS;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.coordination.leave(this.describe().instanceId);
  }
}
