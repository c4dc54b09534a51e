// What an instance measures of its own side, with the age of its last shortage. Read with each heartbeat; the rules are in
// domain/stats/own-side.ts.
import { type OwnSide, troublesOf } from '../../domain/stats/own-side.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { FleetClock } from '../fleet-clock.ts';
import type { Heartbeat } from '../heartbeat.ts';
import type { LoadReading } from './own-load.ts';

interface OwnSideDeps {
  readonly load: () => LoadReading;
  readonly live: Pick<LiveStore, 'kind'>;
  readonly records: Pick<RecordStore, 'kind'>;
  readonly heartbeat: Pick<Heartbeat, 'redisMs'>;
  readonly fleetClock: Pick<FleetClock, 'databaseMs'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class OwnSideWatch {
  /** By the monotonic clock; null: none since the start. */
  #shortAt: number | null = null;

  constructor(private readonly deps: OwnSideDeps) {}

  read(): OwnSide {
    const { load, live, records, heartbeat, fleetClock, clock } = this.deps;
    const now = {
      ...load(),
      // Embedded stores run in this process, so they have no latency to report.
      redisMs: live.kind === 'embedded' ? null : heartbeat.redisMs,
      databaseMs: records.kind === 'embedded' ? null : fleetClock.databaseMs,
    };
    const at = clock.monotonic();
    if (troublesOf(now).length > 0) this.#shortAt = at;
    return { ...now, shortAgoMs: this.#shortAt === null ? null : at - this.#shortAt };
  }
}
