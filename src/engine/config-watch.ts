// Follows the polling configs in the record store, so that a change by anyone (API, another instance, plain SQL)
// takes effect on every instance well within a second. Keeps the last known configs while the store is away.
import { ConfigMatcher, type PollingConfig } from '../domain/polling-config.ts';
import { type LoopMeans, LoopService } from '../platform/loop.ts';
import type { ConfigRecords } from '../store/ports/config-records.ts';

const REFRESH_EVERY_MS = 300;

export class ConfigWatch extends LoopService {
  #configs: readonly PollingConfig[] = [];
  #matcher = new ConfigMatcher([]);

  constructor(
    private readonly records: ConfigRecords,
    means: LoopMeans,
  ) {
    super('config-watch', means);
  }

  get configs(): readonly PollingConfig[] {
    return this.#configs;
  }

  get matcher(): ConfigMatcher {
    return this.#matcher;
  }

  async runOnce(): Promise<number> {
    this.#configs = await this.records.list();
    this.#matcher = new ConfigMatcher(this.#configs);
    return REFRESH_EVERY_MS;
  }

  /** Reads the configs once before it returns, so that nobody works with an empty set. */
  override async start(): Promise<void> {
    await this.runOnce();
    await super.start();
  }
}
