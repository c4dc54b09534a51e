// One instance of the fleet leads: it advances the rings, initialises them and takes back what dead workers left.
// This service keeps or seeks that lease. Losing it never breaks anything: advancing a ring carries the fencing token,
// so a paused former leader is refused; every other operation is idempotent, and made only after a look at the lead.
import type { Clock } from '../platform/clock.ts';
import { type LoopErrorHandler, LoopService } from '../platform/loop.ts';
import type { Coordination } from '../store/ports/coordination.ts';

const LEASE = 'scheduler';
const TTL_MS = 4_000;
const RENEW_EVERY_MS = 1_000;

export class Leadership extends LoopService {
  #fence: number | null = null;
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly deps: {
      readonly coordination: Coordination;
      readonly holder: string;
      readonly clock: Clock;
      readonly onChange: (leads: boolean, fence: number | null) => void;
      readonly onError: LoopErrorHandler;
    },
  ) {
    super('leadership', deps);
  }

  /** The fencing token while this instance leads for certain, else null. */
  fence(): number | null {
    return this.deps.clock.monotonic() - this.#renewedAt < TTL_MS ? this.#fence : null;
  }

  async runOnce(): Promise<number> {
    const askedAt = this.deps.clock.monotonic();
    const fence = await this.deps.coordination.lead(LEASE, this.deps.holder, TTL_MS);
    const changed = fence !== this.#fence;
    this.#fence = fence;
    this.#renewedAt = askedAt;
    if (changed) this.deps.onChange(fence !== null, fence);
    return RENEW_EVERY_MS;
  }

  override async stop(): Promise<void> {
    await super.stop();
    if (this.#fence === null) return;
    this.#fence = null;
    await this.deps.coordination.resign(LEASE, this.deps.holder);
  }
}
