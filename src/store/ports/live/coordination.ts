// Port section of live-store.ts, for agreement among the instances: which one leads, which are alive, and the progress of
// initialisation and reconciliation.
import type { Fleet } from '../../../domain/fleet.ts';
import type { GatewayFault } from '../../../domain/gateway-fault.ts';
import type { BreakerReport } from '../../../domain/limits/breaker.ts';
import type { PollHold } from '../../../domain/schedule/poll-hold.ts';
import type { OwnSideReport } from '../../../domain/stats/own-side.ts';
import type { StopMode } from '../../../domain/stops/stop.ts';
import type { TaskType } from '../../../domain/task-type.ts';

export interface InstanceInfo {
  readonly instanceId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly roles: readonly string[];
  /** host:port where this instance answers probes (its API's, if it serves one); null while it does not listen. */
  readonly probeAddress: string | null;
  readonly startedAtMs: number;
  readonly heartbeatAtMs: number;
  /** Number of this instance's gateway calls in flight. */
  readonly inFlight: number;
  /** Card cache look-ups of this instance since its start. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Breakers of this instance that are not closed. */
  readonly breakers: readonly BreakerReport[];
  /** How its calls fail to reach the gateway now; null: they reach it; absent in an older version. */
  readonly gatewayFault?: GatewayFault | null;
  /** When the gateway's certificate expires; null: unknown; absent in an older version. */
  readonly certificateEndsMs?: number | null;
  /** Since when this instance cannot use the record store, and why; null while it can. */
  readonly databaseOutage: DatabaseOutage | null;
  /** When this instance could not reload its configuration, and why; null after a reload that worked. */
  readonly reloadFailure: { readonly sinceMs: number; readonly reason: string } | null;
  /** A log file with delayed or dropped lines, and why; null while all lines are written. */
  readonly logTrouble: string | null;
  /** Its log directory, an absolute path; null: standard output; absent in an older version. */
  readonly logDir?: string | null;
  /** A part of its engine that has failed for a minute, although the stores answer; absent in an older version. */
  readonly failing?: { readonly part: string; readonly sinceMs: number; readonly reason: string } | null;
  /** Why its workers have claimed nothing for a second or longer; absent in an older version. */
  readonly holds?: Readonly<Partial<Record<TaskType, PollHold>>>;
  /** The state of its own process; absent in an older version. */
  readonly ownSide?: OwnSideReport;
  /**
   * Only from the leader: instances that ended without signing off in the last minutes, newest first; absent in an older version.
   */
  readonly gone?: readonly GoneInstance[];
  /** IANA name of the time zone of its usage months; null: an instance of an older version, which does not report it. */
  readonly timeZone: string | null;
  /** The setting stops.mode of this instance; null: an instance of an older version, which does not report it. */
  readonly stopMode: StopMode | null;
  /** The least amount by which its clock is ahead of the store's; null: unknown so far, or an instance of an older version. */
  readonly clockAheadMs: number | null;
  /** State of the heartbeats to alerts.heartbeat_url; null: it does not lead, has no such setting, or is of an older version. */
  readonly outsideHeartbeat: OutsideHeartbeatReport | null;
  /** Only from the leader: recently restored values, newest first; absent in an older version. */
  readonly putBack?: readonly PutBack[];
}

export interface GoneInstance {
  readonly instanceId: string;
  readonly atMs: number;
}

/** A recorded value that the live store had lost or reverted (engine/limits/limits-in-force.ts). */
export interface PutBack {
  readonly atMs: number;
  readonly text: string;
}

export interface OutsideHeartbeatReport {
  /** When the receiver accepted the last one from this instance; null: none yet. */
  readonly sentAtMs: number | null;
  /** Why the next one is withheld, or was refused; null: neither. */
  readonly trouble: string | null;
}

/** Clocks that differ by less than this agree: times stay as the instance reported them. */
const AGREE_MS = 1_000;

/** @returns the instance with times by the store's clock, which dates everything else. */
export function byStoreClock(instance: InstanceInfo): InstanceInfo {
  const { breakers, databaseOutage, reloadFailure, outsideHeartbeat } = instance;
  const { failing = null, putBack = [], gone = [] } = instance;
  const aheadMs = instance.clockAheadMs ?? 0;
  if (Math.abs(aheadMs) <= AGREE_MS) return instance;
  const begun = <T extends { readonly sinceMs: number }>(one: T) => ({
    ...one,
    sinceMs: one.sinceMs - aheadMs,
  });
  return {
    ...instance,
    startedAtMs: instance.startedAtMs - aheadMs,
    heartbeatAtMs: instance.heartbeatAtMs - aheadMs,
    breakers: breakers.map((one) => ({
      ...begun(one),
      nextProbeAtMs: one.nextProbeAtMs === null ? null : one.nextProbeAtMs - aheadMs,
    })),
    databaseOutage: databaseOutage && begun(databaseOutage),
    reloadFailure: reloadFailure && begun(reloadFailure),
    failing: failing && begun(failing),
    putBack: putBack.map((one) => ({ ...one, atMs: one.atMs - aheadMs })),
    gone: gone.map((one) => ({ ...one, atMs: one.atMs - aheadMs })),
    outsideHeartbeat: outsideHeartbeat && {
      ...outsideHeartbeat,
      sentAtMs: outsideHeartbeat.sentAtMs === null ? null : outsideHeartbeat.sentAtMs - aheadMs,
    },
  };
}

export interface DatabaseOutage {
  readonly sinceMs: number;
  readonly reason: string;
  /** The record store answers, but cards cannot be read (it is slow), or results cannot be written (its disk is full). */
  readonly part?: 'cards' | 'results';
}

/** The progress before the first build, and after the store lost its data. */
export const INIT_NOT_STARTED = {
  status: 'pending' as 'pending' | 'running' | 'completed',
  total: 0,
  loaded: 0,
  lastCardId: 0,
  batch: 0,
  batches: 0,
  startedAtMs: null as number | null,
  updatedAtMs: null as number | null,
  finishedAtMs: null as number | null,
  /** The record store's change mark up to which changed cards were applied to the rings; the sync continues here. */
  changeMark: '',
  /** The current or last pass: `build` fills rings, all others compare all rings with the cards. */
  reason: 'build' as 'build' | ReconciliationReason,
};

export type InitProgress = Readonly<typeof INIT_NOT_STARTED>;

/** Why a pass of reconciliation runs. `continuous` runs slowly and continuously; all others as fast as initialisation. */
export type ReconciliationReason =
  | 'continuous'
  | 'requested' // by an operator
  | 'live_store_replaced' // failover or restart: writes may be lost
  | 'record_store_replaced' // failover, or restored from a copy
  | 'progress_lost' // the live store lost the change mark of the rings
  | 'members_lost'; // a continuous pass found that cards were missing

/** The state of the comparison of rings and cards and the number of its repairs so far; its values before the first pass. */
export const NEVER_RECONCILED = {
  reason: 'continuous' as ReconciliationReason,
  /** Position of the pass in progress; '' between two passes. Only the reconciler reads it. */
  position: '',
  /** Number of cards compared in the pass in progress. */
  checked: 0,
  /** Counts of the cards passed in the current pass, and of the last pass over all cards (CardCounts); '': none yet. */
  counting: '',
  counted: '',
  /** Repairs made, or about to be made, since the members were last counted; if not 0, the pass ends with a count. */
  healed: 0,
  startedAtMs: null as number | null,
  /** When the last complete pass ended. */
  sweptAtMs: null as number | null,
  /** Number of cards that were missing from the ring of the config that polls them. */
  healedMissing: 0,
  /** Number of members that are not a card, or belong to another ring and were missing there. */
  healedForeign: 0,
  /** Number of members that belong to another ring and were also there. */
  healedDouble: 0,
  /** The stores with which the rings last agreed (`identity()`); '' before these were saved. */
  liveIdentity: '',
  recordIdentity: '',
  /** The time of the last request for a pass, and of the last request that was answered with a pass. */
  requestedMs: 0,
  answeredRequestMs: 0,
};

export type Reconciliation = Readonly<typeof NEVER_RECONCILED>;

export interface Coordination {
  /**
   * Takes or renews the named lease. @returns the fencing token (unchanged when the holder renews, greater for every
   * new holder), or null while another holder has the lease.
   */
  lead(lease: string, holder: string, ttlMs: number): Promise<number | null>;
  resign(lease: string, holder: string): Promise<void>;

  /** The fleet that the store belongs to; null if it belongs to none yet, or lost its data. */
  fleet(): Promise<Fleet | null>;
  /** Assigns the store to a fleet, unless it belongs to one. @returns the fleet that it belongs to now. */
  claimFleet(fleet: Fleet): Promise<Fleet>;
  /** Removes everything in the store, including the fleet that it belongs to. */
  forgetFleet(): Promise<void>;

  /** @param instance with times by its own clock @returns the store's time, epoch milliseconds */
  heartbeat(instance: InstanceInfo, ttlMs: number): Promise<number>;
  /** @returns the live instances, in order of id, with times by the store's clock. */
  instances(): Promise<InstanceInfo[]>;
  /** Removes an instance that stops. */
  leave(instanceId: string): Promise<void>;
  /** Removes instances whose heartbeat expired, with everything stored for them. @returns their ids. */
  reapInstances(): Promise<string[]>;

  initProgress(): Promise<InitProgress>;
  saveInitProgress(progress: InitProgress): Promise<void>;

  reconciliation(): Promise<Reconciliation>;
  /** Saves all fields except `requestedMs`. */
  saveReconciliation(state: Reconciliation): Promise<void>;
  /** Asks the leader for a fast pass. Requests made while one waits have no further effect. */
  requestReconciliation(atMs: number): Promise<void>;
}
