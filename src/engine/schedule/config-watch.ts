// Follows the polling configs in the record store, so that a change by anyone (API, another instance, plain SQL)
// takes effect on every instance well within a second. Keeps the last known configs while the store is away. As the
// statement that is sent most often, its answers also prove that this instance reaches the store.
import { ConfigMatcher, type PollingConfig } from '../../domain/schedule/polling-config.ts';
import { messageOf } from '../../platform/errors.ts';
import { type LoopMeans, LoopService } from '../../platform/loop.ts';
import type { ConfigRecords } from '../../store/ports/records/config-records.ts';

const REFRESH_EVERY_MS = 300;
/** An answer proves for this long that the record store is reached: a restart of it is shorter, or nearly. */
export const PROVEN_FOR_MS = 5_000;

export class ConfigWatch extends LoopService {
  /** So that a store that is back is noticed at once. */
  protected override readonly maxRetryMs = 1_000;
  #configs: readonly PollingConfig[] = [];
  #matcher = new ConfigMatcher([]);
  #readAt = Number.NEGATIVE_INFINITY;
  #failure = 'no answer';

  constructor(
    private readonly records: Pick<ConfigRecords, 'list'>,
    private readonly loopMeans: LoopMeans,
  ) {
    super('config-watch', loopMeans);
  }

  get configs(): readonly PollingConfig[] {
    return this.#configs;
  }

  get matcher(): ConfigMatcher {
    return this.#matcher;
  }

  /** When the present configs were asked for, by the monotonic clock. */
  get readAt(): number {
    return this.#readAt;
  }

  /** How long the record store has not been reached, and why; null while it is. */
  get outage(): { readonly lastsMs: number; readonly reason: string } | null {
    const lastsMs = this.loopMeans.clock.monotonic() - this.#readAt;
    return lastsMs < PROVEN_FOR_MS ? null : { lastsMs, reason: this.#failure };
  }

  async runOnce(): Promise<number> {
    const askedAt = this.loopMeans.clock.monotonic();
    try {
      this.#configs = await this.records.list();
    } catch (error) {
      this.#failure = messageOf(error);
      throw error;
    }
    this.#matcher = new ConfigMatcher(this.#configs);
    this.#readAt = askedAt;
    this.#failure = 'no answer';
    return REFRESH_EVERY_MS;
  }

  /** Reads the configs once before it returns, so that nobody works with an empty set. */
  override async start(): Promise<void> {
    await this.runOnce();
    await super.start();
  }
}
