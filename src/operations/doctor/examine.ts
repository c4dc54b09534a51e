// The checks of `cardpoll doctor` on a daemon's surroundings and its fleet. Opens its own connections and changes nothing.
// src/doctor.ts adds the checks that need no store.
import { type Finding, failed, ok, skipped, warning } from '../../domain/finding.ts';
import { fleetText } from '../../domain/fleet.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { OperationDeps } from '../deps.ts';
import { answered } from './finding.ts';
import { liveStoreFindings, liveStoreNotOpened } from './live-store.ts';
import { type RecordStoreExpectations, recordStoreFindings, recordStoreNotOpened } from './record-store.ts';

export type Stores = Pick<OperationDeps, 'live' | 'records'>;

interface DoctorSurroundings {
  readonly openLive: () => Promise<LiveStore>;
  readonly openRecords: () => Promise<RecordStore>;
  readonly clock: Clock;
  /** `redis-cli` with the options that connect to the server. */
  readonly redisCli: string;
  readonly database: Omit<RecordStoreExpectations, 'instances'>;
  /**
   * Checks outside the stores. @param records null when they do not answer; otherwise the source of a card for a gateway call
   * @param live null when it does not answer; otherwise the source of the usual duration of calls
   */
  readonly elsewhere: (records: RecordStore | null, live: LiveStore | null) => Promise<Finding[]>;
  /** Checks of the fleet; called when both stores answer and all migrations are applied. */
  readonly fleet: (stores: Stores) => Promise<Finding[]>;
}

/** @returns all findings, in a fixed order. Problems become findings, not errors. */
export async function examine(around: DoctorSurroundings): Promise<Finding[]> {
  const { clock } = around;
  const records = await around.openRecords();
  const [live, liveError] = await attempt(around.openLive);
  try {
    const [, recordError] = await attempt(() => records.ping());
    const reachable = recordError === null ? records : null;
    const migrated = reachable !== null && (await isMigrated(reachable));
    const [cards] = migrated ? await attempt(() => records.cards.estimate()) : [null];
    const [instances] = live === null ? [[]] : await attempt(() => live.coordination.instances());
    const expected = { ...around.database, instances: Math.max(1, instances?.length ?? 0) };
    const groups = await Promise.all([
      live === null
        ? liveStoreNotOpened(liveError, around.redisCli)
        : answered('redis', () => liveStoreFindings(live, clock, cards)),
      reachable === null
        ? recordStoreNotOpened(recordError)
        : answered('postgresql', () => recordStoreFindings(records, clock, expected)),
      around.elsewhere(migrated ? records : null, live),
      live !== null && migrated
        ? answered('fleet', () => examineFleet({ live, records }, around))
        : [skipped('fleet', 'needs both stores and all migrations')],
    ]);
    return groups.flat();
  } finally {
    await Promise.all([live?.close(), records.close()]);
  }
}

async function examineFleet(stores: Stores, { fleet }: DoctorSurroundings): Promise<Finding[]> {
  const claim = await fleetClaimFinding(stores);
  return claim.status === 'failed'
    ? [claim, skipped('fleet', 'this Redis belongs to another fleet')]
    : [claim, ...(await answered('fleet', () => fleet(stores)))];
}

/** The checks for a daemon with embedded stores, which exist only inside its process. */
export async function examineEmbedded(elsewhere: () => Promise<Finding[]>): Promise<Finding[]> {
  const detail = 'the embedded store is in use; it is for trials only';
  const remedy = { hint: 'configure Redis and PostgreSQL for a fleet' };
  return [warning('redis', detail, remedy), warning('postgresql', detail, remedy), ...(await elsewhere())];
}

async function isMigrated(records: RecordStore): Promise<boolean> {
  const [states] = await attempt(() => records.migrations.status());
  return states?.every(({ appliedAtMs }) => appliedAtMs !== null) ?? false;
}

async function attempt<T>(work: () => Promise<T>): Promise<[T, null] | [null, unknown]> {
  try {
    return [await work(), null];
  } catch (error) {
    return [null, error];
  }
}

/** Findings from the live store of another fleet would be meaningless. */
async function fleetClaimFinding({ live, records }: Stores): Promise<Finding> {
  const check = 'redis fleet';
  const [holder, own] = [await live.coordination.fleet(), await records.fleet()];
  if (holder === null)
    return ok(check, `belongs to no fleet yet; the first daemon claims it for ${fleetText(own)}`);
  if (holder.id === own.id) return ok(check, fleetText(own));
  return failed(
    check,
    `it belongs to ${fleetText(holder)}, but the database is ${fleetText(own)}: no daemon starts`,
    {
      hint: 'give each fleet its own Redis; if this database replaces the other one',
      command: 'cardpoll init adopt',
    },
  );
}
