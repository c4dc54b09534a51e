// What holds in every world, at all times, and what holds once the faults have ended. Each invariant is a file of invariants/.
import type { GatewayWatcher } from './gateway.ts';
import type { StoreCall, World } from './world.ts';

export interface Checks {
  /** Looks at calls as the gateway sees them. */
  readonly gateway?: GatewayWatcher;
  /** Looks at calls of the stores that took effect, by port and method, as `records.stops.claim`. */
  readonly store?: Readonly<Record<string, (call: StoreCall) => void>>;
  /** Once, when all has been well for minutes: orders something, and sees to it that it is done within seconds. */
  readonly drill?: () => Promise<void>;
  /** Every few seconds. */
  readonly now?: () => Promise<void>;
  /** At the end, when the fleet had time to recover. */
  readonly atRest?: () => Promise<void>;
}

/** @typeParam Seen what it looks at: all of a world, or also a fleet of processes */
export interface Invariant<Seen = World> {
  readonly name: string;
  /** A sentence. */
  readonly says: string;
  /** @param check counts a check, and fails the world where it does not hold. */
  watch(world: Seen, check: (holds: boolean, what: () => string) => void): Checks;
}
