// What faults of the gateway and most invariants need to see: a world on its own clock, or a fleet of real processes (processes/).
import type { World } from './world.ts';

/** Milliseconds since it began, and the right time; both as the clock of VirtualTime has them. */
export interface OutsideTime {
  readonly epochMs: number;
  readonly now: number;
  readonly wall: number;
  /** @returns what ends the wait without `wake`. */
  after(ms: number, wake: () => void): () => void;
}

export interface Outside
  extends Pick<
    World,
    | 'gateway'
    | 'cards'
    | 'cardOf'
    | 'triggered'
    | 'calendar'
    | 'calmSince'
    | 'hasLostClaims'
    | 'lastReturn'
    | 'mode'
    | 'intervalSeconds'
    | 'unfinished'
  > {
  readonly time: OutsideTime;
  readonly settings: Pick<World['settings'], 'stops' | 'rate'>;
  readonly store: { sql<Row>(text: string): Promise<Row[]> };
}
