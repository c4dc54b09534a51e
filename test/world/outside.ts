// What faults of the gateway and most invariants need to see: a world on its own clock, or a fleet of real processes (processes/).
import type { TaskType } from '../../src/domain/task-type.ts';
import { CLAIM_AND_CALL_MS, LIMIT, type World } from './world.ts';

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
    | 'limits'
    | 'intervalSeconds'
    | 'unfinished'
  > {
  readonly time: OutsideTime;
  readonly settings: Pick<World['settings'], 'stopsAnHour' | 'rate' | 'ceiling'>;
  readonly store: { sql<Row>(text: string): Promise<Row[]> };
}

/** The limit that is in force; the higher one as long as claims of before it was lowered may be called. */
export function mostCalls({ limits, time }: Pick<Outside, 'limits' | 'time'>, type: TaskType): number {
  const lowered = limits.get(type);
  return lowered && time.now - lowered.since > CLAIM_AND_CALL_MS ? lowered.limit : LIMIT;
}
