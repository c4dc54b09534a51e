// Reports to the live store, every two seconds, that this instance is alive and what it does.
import { type LoopMeans, LoopService } from '../platform/loop.ts';
import type { Coordination, InstanceInfo } from '../store/ports/live/coordination.ts';

const BEAT_EVERY_MS = 2_000;
const TTL_MS = 10_000;

export class Heartbeat extends LoopService {
  #beatAt: number;

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

  async runOnce(): Promise<number> {
    await this.coordination.heartbeat(this.describe(), TTL_MS);
    this.#beatAt = this.loopMeans.clock.monotonic();
    return BEAT_EVERY_MS;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.coordination.leave(this.describe().instanceId);
  }
}
