// Port section of live-store.ts: grants of gateway calls by the configured rate limits, for the whole fleet. Used by
// engine/limits/call-pace.ts, and by the operations to report. docs/decisions/0036-pace.md explains the design.
import type { InterfaceName } from '../../../domain/gateway-interface.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** A limit that no instance has requested for this long is forgotten. */
export const LIMIT_KEPT_MS = 10_000;

/**
 * Who requests calls, in rising priority: the polls of a task type; orders to stop or to resume cards, for their first call;
 * calls that follow other calls (stops, starts and their confirmations).
 */
export type PaceParticipant = TaskType | 'order' | 'follow_up';

/** A limit as configured on one instance. */
export interface PaceLimit {
  /** Equal on every instance for the same limit. */
  readonly id: string;
  /** The interfaces that it counts together; null: all. */
  readonly interfaces: readonly InterfaceName[] | null;
  readonly perSecond: number;
  readonly burst: number;
}

interface PaceRequest {
  readonly participant: PaceParticipant;
  readonly interfaceName: InterfaceName;
  /** Most calls to grant. */
  readonly calls: number;
  /** All limits that this instance knows, also those that do not count this interface. */
  readonly limits: readonly PaceLimit[];
}

export interface PaceGrant {
  readonly calls: number;
  /** When another call is likely to be granted, milliseconds from now; 0 when all were granted. */
  readonly waitMs: number;
  /** The calls are sent within this time of the request, or not at all. */
  readonly lifeMs: number;
  /** Opaque, for giveBack. */
  readonly receipt: readonly string[];
}

/** A waiting participant asks again at least once a second; a late one keeps its turn for half a second. */
export const ASKS_EVERY_MS = 1_000;
export const TURN_KEPT_MS = 500;

/** How many calls a participant waits for, and until when it counts as waiting. */
export interface PaceTurn {
  want: number;
  till: number;
}

/** After the clock was set back, a turn may end later than any that is given: it does not count. */
export function isAwaited({ want, till }: PaceTurn, nowMs: number): boolean {
  return want > 0 && till > nowMs && till - nowMs <= ASKS_EVERY_MS + TURN_KEPT_MS;
}

/** The state of one limit, for reports. */
export interface PaceState extends PaceLimit {
  /** Calls granted since the store began to count. */
  readonly granted: number;
  /** The participants that were refused a call within the last second or so. */
  readonly waiting: readonly PaceParticipant[];
}

export interface Pace {
  /**
   * Grants calls by every limit that counts the interface: those of this request, and those that other instances requested within
   * LIMIT_KEPT_MS. If instances know different values of one limit, the strictest of that time is in force. For any steps of the
   * store's clock and any requests, the grants that are used within their life stay within rate x time + burst. A new bucket is
   * empty, and so is one that was not requested for three seconds.
   *
   * When calls are short, follow-up calls come first, then those of orders, with a poll of any type in between; all requesting
   * task types get equal numbers, and the unused share of one goes to the others.
   */
  take(request: PaceRequest): Promise<PaceGrant>;

  /** Returns calls that were granted and certainly not sent. Has no effect the second time. */
  giveBack(request: Pick<PaceRequest, 'participant'>, grant: PaceGrant, calls: number): Promise<void>;

  /** @returns the limits in force, in order of id; empty while no instance has made a request. */
  states(): Promise<PaceState[]>;
}
