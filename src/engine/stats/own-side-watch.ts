// What an instance measures of its own side, with its last shortage. Read with each heartbeat; the rules are in
// domain/stats/own-side.ts.
import { type OwnSide, type OwnSideReport, troublesOf } from '../../domain/stats/own-side.ts';
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
  /** `at`: by the monotonic clock. null: none since the start. */
  #short: { readonly side: OwnSide; readonly at: number } | null = null;

  constructor(private readonly deps: OwnSideDeps) {}

  read(): OwnSideReport {
    const { load, live, records, heartbeat, fleetClock, clock } = this.deps;
    const side = {
      ...load(),
      // Embedded stores run in this process, so they have no latency to report.
      redisMs: live.kind === 'embedded' ? null : heartbeat.redisMs,
      databaseMs: records.kind === 'embedded' ? null : fleetClock.databaseMs,
    };
    const at = clock.monotonic();
    if (troublesOf(side).length > 0) this.#short = { side, at };
    const last = this.#short;
    return { ...side, lastShort: last === null ? null : { ...last.side, agoMs: at - last.at } };
  }
}
