// Port section of live-store.ts: grants of gateway calls by the rate limits of the configuration, for the whole fleet.
// Used by engine/limits/call-pace.ts, and by the operations to report. Why it works like this: docs/decisions/0036-pace.md.
import type { InterfaceName } from '../../../domain/gateway-interface.ts';
import type { TaskType } from '../../../domain/task-type.ts';

/** A limit that no instance has asked with for this long is forgotten. */
export const LIMIT_KEPT_MS = 10_000;

/**
 * Who asks for calls: the polls of a task type; before them orders to stop or to resume cards, for their first call; before all, calls
 * that follow from others (stops, starts and their confirmations).
 */
export type PaceParticipant = TaskType | 'order' | 'follow_up';

/** A limit as the configuration of one instance has it. */
export interface PaceLimit {
  /** The same for the same limit on every instance. */
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

/** Who waits asks again at least once a second; a late one keeps its turn for half a second. */
export const ASKS_EVERY_MS = 1_000;
export const TURN_KEPT_MS = 500;

/** How many calls a participant waits for, and until when it counts as waiting. */
export interface PaceTurn {
  want: number;
  till: number;
}

/** By a clock that was set back since, a turn may end later than any that is given: it counts no more. */
export function isAwaited({ want, till }: PaceTurn, nowMs: number): boolean {
  return want > 0 && till > nowMs && till - nowMs <= ASKS_EVERY_MS + TURN_KEPT_MS;
}

/** The state of one limit, for reports. */
export interface PaceState extends PaceLimit {
  /** Calls granted since the store began to count. */
  readonly granted: number;
  /** Who was refused a call within the last second or so. */
  readonly waiting: readonly PaceParticipant[];
}

export interface Pace {
  /**
   * Grants calls by every limit that counts the interface: those of this request, and those with which other instances
   * asked within LIMIT_KEPT_MS. If instances know different values of one limit, the strictest of that time is in force.
   * However often the store's clock steps, and whoever asks: the grants that are used within their life stay within rate
   * x time + burst. A new bucket is empty, and so is one for which no one asked for three seconds.
   *
   * Calls that are short are divided: follow-up calls come first, then those of orders, but a poll of any type in between; all task types that ask get equal numbers, and what one
   * does not want goes to the others.
   */
  take(request: PaceRequest): Promise<PaceGrant>;

  /** Gives back calls that were granted and certainly not sent. Does nothing the second time. */
  giveBack(request: Pick<PaceRequest, 'participant'>, grant: PaceGrant, calls: number): Promise<void>;

  /** @returns the limits in force, in order of id; none while no instance has asked. */
  states(): Promise<PaceState[]>;
}
