// Watches the polling configs in the record store, so that any change (API, another instance, plain SQL) takes effect on every
// instance within a second. Keeps the last known configs while the store is unavailable. This is the most frequent query, so its
// answers also show whether this instance can reach the store.
//
// A config of a task type whose interface the gateway does not offer counts as disabled: its rings keep their cards, its queue
// drains, and nothing is late.
import type { Offers } from '../../domain/gateway-interface.ts';
import { ConfigMatcher, type PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASKS } from '../../domain/task-type.ts';
import { messageOf } from '../../platform/errors.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { ConfigRecords } from '../../store/ports/records/record-store.ts';

const REFRESH_EVERY_MS = 300;
/** The record store counts as reachable for this long after an answer; most of its restarts are shorter. */
export const PROVEN_FOR_MS = 5_000;

export class ConfigWatch extends LoopService<
  LoopDeps & {
    readonly records: { readonly configs: Pick<ConfigRecords, 'list'> };
    readonly offers: Offers;
  }
> {
  readonly name = 'config-watch';
  /** Short, so that a recovered store is noticed soon. */
  protected override readonly maxRetryMs = 1_000;
  #matcher = new ConfigMatcher([]);
  #readAt = Number.NEGATIVE_INFINITY;
  #failure = 'no answer';

  get matcher(): ConfigMatcher {
    return this.#matcher;
  }

  /** When the current configs were requested, by the monotonic clock. */
  get readAt(): number {
    return this.#readAt;
  }

  /** How long the record store has been unreachable (milliseconds), and why; null while it is reachable. */
  get outage(): { readonly lastsMs: number; readonly reason: string } | null {
    const lastsMs = this.deps.clock.monotonic() - this.#readAt;
    return lastsMs < PROVEN_FOR_MS ? null : { lastsMs, reason: this.#failure };
  }

  async runOnce(): Promise<number> {
    const askedAt = this.deps.clock.monotonic();
    try {
      const configs = await this.deps.records.configs.list();
      this.#matcher = new ConfigMatcher(configs.map((config) => this.#inForce(config)));
    } catch (error) {
      this.#failure = messageOf(error);
      throw error;
    }
    this.#readAt = askedAt;
    this.#failure = 'no answer';
    return REFRESH_EVERY_MS;
  }

  #inForce(config: PollingConfig): PollingConfig {
    return this.deps.offers(TASKS[config.taskType].interface) ? config : { ...config, status: 0 };
  }

  /** Reads the configs once before it returns, so that no service starts without configs. */
  override async start(): Promise<void> {
    await this.runOnce();
    await super.start();
  }
}
