// Acquires and renews the leader's lease. One instance of the fleet leads: it advances the rings, initialises them, and takes
// back the leases of dead workers. A lease needs both stores: a leader without the record store could not do its work, and would
// keep every other instance from doing it. The proof is the read of the polling configs (schedule/config-watch.ts), valid for
// five seconds, so a leader that lost PostgreSQL is replaced in about seven. Losing the lease is safe: advancing a ring carries
// the fencing token, so a former leader that was paused is refused. Every other operation is idempotent and checks the lead
// first.
import { type LoopDeps, LoopService } from '../platform/loop.ts';
import type { Coordination } from '../store/ports/live/coordination.ts';
import { PROVEN_FOR_MS } from './schedule/config-watch.ts';

/** Dependencies of each service of the leader: those of a loop, and the fence. */
export interface LeaderDeps extends LoopDeps {
  /** The fencing token while this instance leads, else null. */
  readonly fence: () => number | null;
}

const LEASE = 'scheduler';
const TTL_MS = 4_000;
const RENEW_EVERY_MS = 1_000;

export class Leadership extends LoopService<
  LoopDeps & {
    readonly coordination: Coordination;
    readonly holder: string;
    /** When the polling configs in use were requested, by the monotonic clock. */
    readonly configsReadAt: () => number;
    readonly onChange: (leads: boolean, fence: number | null) => void;
  }
> {
  readonly name = 'leadership';
  #fence: number | null = null;
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** When the lease was first granted with this fencing token, by the monotonic clock. */
  #ledSince = Number.NEGATIVE_INFINITY;

  /**
   * The fencing token while this instance certainly leads, else null. Also null until the configs have been read under
   * this lead: another leader may have changed rings since the last read.
   */
  fence(): number | null {
    const renewed = this.deps.clock.monotonic() - this.#renewedAt < TTL_MS;
    const isCurrent = this.deps.configsReadAt() >= this.#ledSince;
    return renewed && isCurrent && this.#reachesRecords() ? this.#fence : null;
  }

  async runOnce(): Promise<number> {
    if (!this.#reachesRecords()) {
      await this.#resign();
      return RENEW_EVERY_MS;
    }
    const askedAt = this.deps.clock.monotonic();
    const fence = await this.deps.coordination.lead(LEASE, this.deps.holder, TTL_MS);
    this.#renewedAt = askedAt;
    if (fence !== this.#fence) {
      this.#ledSince = this.deps.clock.monotonic();
      this.#change(fence);
    }
    return RENEW_EVERY_MS;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.#resign();
  }

  #reachesRecords(): boolean {
    return this.deps.clock.monotonic() - this.deps.configsReadAt() < PROVEN_FOR_MS;
  }

  async #resign(): Promise<void> {
    if (this.#fence === null) return;
    this.#change(null);
    await this.deps.coordination.resign(LEASE, this.deps.holder);
  }

  #change(fence: number | null): void {
    this.#fence = fence;
    this.deps.onChange(fence !== null, fence);
  }
}
