// Port section of live-store.ts: what the instances agree on: who leads, who is alive, how far initialisation and
// reconciliation are.

import type { Fleet } from '../../../domain/fleet.ts';
import type { BreakerReport } from '../../../domain/limits/breaker.ts';

export interface InstanceInfo {
  readonly instanceId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly version: string;
  readonly roles: readonly string[];
  /** host:port where this instance answers probes: that of its API where it serves one. null while it does not listen. */
  readonly probeAddress: string | null;
  readonly startedAtMs: number;
  readonly heartbeatAtMs: number;
  /** Gateway calls this instance has in flight. */
  readonly inFlight: number;
  /** Card cache look-ups of this instance since its start. */
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Breakers of this instance that are not closed. */
  readonly breakers: readonly BreakerReport[];
  /** Since when this instance cannot use the record store, and why; null while it can. */
  readonly databaseOutage: { readonly sinceMs: number; readonly reason: string } | null;
}

export type InitStatus = 'pending' | 'running' | 'completed';

export interface InitProgress {
  readonly status: InitStatus;
  readonly total: number;
  readonly loaded: number;
  readonly lastCardId: number;
  readonly batch: number;
  readonly batches: number;
  readonly startedAtMs: number | null;
  readonly updatedAtMs: number | null;
  readonly finishedAtMs: number | null;
  /** Record-store change mark up to which cards are reflected in the rings; the sync goes on from here. */
  readonly changeMark: string;
  /** What runs, or ran last: `build` fills rings, anything else compares all of them with the cards. */
  readonly reason: 'build' | ReconciliationReason;
}

/** Before the first build, and where the store lost everything. */
export const INIT_NOT_STARTED: InitProgress = {
  status: 'pending',
  total: 0,
  loaded: 0,
  lastCardId: 0,
  batch: 0,
  batches: 0,
  startedAtMs: null,
  updatedAtMs: null,
  finishedAtMs: null,
  changeMark: '',
  reason: 'build',
};

/** Why a pass of reconciliation runs. `continuous`: slowly, for ever; all others as fast as initialisation. */
export type ReconciliationReason =
  | 'continuous'
  | 'requested' // by an operator
  | 'live_store_replaced' // failover or restart: writes may be lost
  | 'record_store_replaced' // failover, or restored from a copy
  | 'progress_lost' // the live store lost what the rings were in step with
  | 'members_lost';

// a continuous pass found that cards were missing

/** The comparison of rings and cards, and what it repaired since counting began. */
export interface Reconciliation {
  readonly reason: ReconciliationReason;
  /** Where the pass under way stands; '' between two passes. Only its owner reads it. */
  readonly position: string;
  /** Cards compared in the pass under way. */
  readonly checked: number;
  /** Repaired, or about to be, since the members were counted last; a pass that ends with any counts them anew. */
  readonly healed: number;
  readonly startedAtMs: number | null;
  /** When the last whole pass ended. */
  readonly sweptAtMs: number | null;
  /** Cards that were in no ring of a config that polls them. */
  readonly healedMissing: number;
  /** Members that are no card, or belong to another ring and were not in it. */
  readonly healedForeign: number;
  /** Members that belong to another ring and were in that too. */
  readonly healedDouble: number;
  /** The stores with which the rings were in step last (`identity()`); '' before that was noted. */
  readonly liveIdentity: string;
  readonly recordIdentity: string;
  /** The last request for a pass (its time is its name), and the last one that was answered with a pass. */
  readonly requestedMs: number;
  readonly answeredRequestMs: number;
}

export const NEVER_RECONCILED: Reconciliation = {
  reason: 'continuous',
  position: '',
  checked: 0,
  healed: 0,
  startedAtMs: null,
  sweptAtMs: null,
  healedMissing: 0,
  healedForeign: 0,
  healedDouble: 0,
  liveIdentity: '',
  recordIdentity: '',
  requestedMs: 0,
  answeredRequestMs: 0,
};

export interface Coordination {
  /**
   * Takes or renews the named lease. @returns the fencing token (same while the holder renews, greater for every new
   * holder), or null while another holder has it.
   */
  lead(lease: string, holder: string, ttlMs: number): Promise<number | null>;
  resign(lease: string, holder: string): Promise<void>;

  /** The fleet the store belongs to; null: none yet, or it lost everything. */
  fleet(): Promise<Fleet | null>;
  /** Gives the store to a fleet, unless it belongs to one. @returns the one it belongs to now */
  claimFleet(fleet: Fleet): Promise<Fleet>;
  /** Removes everything the store holds, and whose it is. */
  forgetFleet(): Promise<void>;

  heartbeat(instance: InstanceInfo, ttlMs: number): Promise<void>;
  /** Live ones, by instance id. */
  instances(): Promise<InstanceInfo[]>;
  /** Forgets an instance that ended in order. */
  leave(instanceId: string): Promise<void>;
  /** Forgets instances whose heartbeat ran out and everything kept for them. @returns their ids. */
  reapInstances(): Promise<string[]>;

  initProgress(): Promise<InitProgress>;
  saveInitProgress(progress: InitProgress): Promise<void>;

  reconciliation(): Promise<Reconciliation>;
  /** Saves all but `requestedMs`. */
  saveReconciliation(state: Reconciliation): Promise<void>;
  /** Asks the leader for a fast pass. Asking again while a request waits is the same request. */
  requestReconciliation(atMs: number): Promise<void>;
}
