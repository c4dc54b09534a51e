// Polling configs: read and change. Used by the admin API. Running daemons watch the records and follow a change
// within half a second; nothing here talks to them.
import type { PollingConfig } from '../domain/polling-config.ts';
import { CardpollError } from '../platform/errors.ts';
import type { RecordStore } from '../store/record-store.ts';
import { requireWithin } from './bounds.ts';

/** One second to thirty days. */
export const INTERVAL_SECONDS_BOUNDS = { min: 1, max: 2_592_000 } as const;

const MAX_ID = 2 ** 31 - 1;

export interface ConfigPatch {
  /** 0 disables the config, 1 enables it (specification, section 2.1). */
  readonly status?: 0 | 1;
  readonly intervalSeconds?: number;
}

export class ConfigOperations {
  constructor(private readonly records: RecordStore) {}

  /** By id. */
  async list(): Promise<PollingConfig[]> {
    const configs = await this.records.configs.list();
    return [...configs].sort((a, b) => a.id - b.id);
  }

  /** Throws `not_found` for an unknown id, `invalid` for an interval out of bounds. */
  async update(id: number, patch: ConfigPatch): Promise<PollingConfig> {
    if (patch.intervalSeconds !== undefined) {
      requireWithin(INTERVAL_SECONDS_BOUNDS, {
        intervalSeconds: patch.intervalSeconds,
      });
    }
    const known = Number.isInteger(id) && id > 0 && id <= MAX_ID;
    const updated = known ? await this.records.configs.update(id, patch) : null;
    if (updated === null) {
      throw new CardpollError('not_found', 'config_not_found', `there is no polling config ${id}`, {
        hint: '`cardpoll configs list` shows the ids',
      });
    }
    return updated;
  }
}
