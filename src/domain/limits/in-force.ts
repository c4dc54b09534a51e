// What operators have set, of record, against what the live store has in force. The live store loses its data, goes back to a copy
// of an hour ago, or fails over to a server that lacks the last second; then the record is right. Pure; used by
// store/ports/in-force.ts.
import { sum } from '../numbers.ts';
import { perTaskType, TASK_TYPES, type TaskType } from '../task-type.ts';
import type { LastPause } from './resume-ramp.ts';

export interface PauseOfRecord {
  readonly id: string;
  /** From its begin to its end. */
  readonly lastsMs: number;
  /** Until it ends. */
  readonly leftMs: number;
  readonly reason: string;
  /** The operator. */
  readonly by: string;
}

export interface RecordedLimits {
  readonly maxConcurrency: number;
  /** null: operators have paused nothing, or it is over. */
  readonly pause: PauseOfRecord | null;
  /** The pause that ended last, or is in force; null: none within an hour. Absent: not asked for. */
  readonly lastPause?: LastPause | null;
}

export interface SeenInForce {
  /** Whether what is of record was put into force in this life of the live store. */
  readonly isInForce: boolean;
  readonly maxConcurrency: number | null;
  /** What the leader grants; null: as much as the limit. */
  readonly leaderLimit: number | null;
  /** Calls in flight. */
  readonly held: number;
  /** Of operators; its id is null if a release before 0.4.0 set it, which kept no record of it. */
  readonly pause: { readonly id: string | null } | null;
}

export interface WantedInForce {
  readonly maxConcurrency: number;
  readonly leaderLimit: number | null;
  readonly pause: 'kept' | 'ended' | PauseOfRecord;
}

/** Why nothing is polled; said by health and by an instance of itself. */
export const NOT_IN_FORCE =
  'limits and pauses are not in force: nothing is polled until the leader has read them from PostgreSQL';

/** A pause that is nearly over is not put back: the clocks of the two stores may differ. */
const LEAST_LEFT_MS = 10_000;

/**
 * @param ceiling of all task types together; null: none, or the leader has divided it already
 * @returns what is to be put into force; null: it is
 */
export function missingInForce(
  record: Readonly<Record<TaskType, RecordedLimits>>,
  seen: Readonly<Record<TaskType, SeenInForce>>,
  ceiling: number | null,
): Record<TaskType, WantedInForce | null> {
  const shares = ceiling === null ? null : sharesWithin(ceiling, seen);
  return perTaskType((taskType) => {
    const present = seen[taskType];
    const { maxConcurrency, pause } = record[taskType];
    const wanted: WantedInForce = {
      maxConcurrency,
      leaderLimit: shares === null ? present.leaderLimit : shares[taskType],
      pause: pauseWanted(pause, present.pause),
    };
    const isAsWanted =
      present.isInForce &&
      present.maxConcurrency === wanted.maxConcurrency &&
      present.leaderLimit === wanted.leaderLimit &&
      wanted.pause === 'kept';
    return isAsWanted ? null : wanted;
  });
}

function pauseWanted(record: PauseOfRecord | null, present: SeenInForce['pause']): WantedInForce['pause'] {
  if (record === null) return present === null || present.id === null ? 'kept' : 'ended';
  if (present?.id === record.id) return 'kept';
  return present === null && record.leftMs < LEAST_LEFT_MS ? 'kept' : record;
}

/**
 * Shares that hold within the ceiling stay. In another life of the live store a type may go on with what its calls in flight take. The
 * leader then divides the rest by need (fleet-limits.ts), and nobody else raises a share.
 */
function sharesWithin(
  ceiling: number,
  seen: Readonly<Record<TaskType, SeenInForce>>,
): Record<TaskType, number> {
  const equal = Math.max(1, Math.floor(ceiling / TASK_TYPES.length));
  // A ceiling below the number of types is exceeded: none may starve.
  const least = ceiling < TASK_TYPES.length ? 1 : 0;
  const shares = perTaskType((taskType) => {
    const { isInForce, leaderLimit, held } = seen[taskType];
    return isInForce ? (leaderLimit ?? equal) : Math.max(least, Math.min(equal, held));
  });
  return sum(Object.values(shares)) <= ceiling
    ? shares
    : perTaskType((taskType) => Math.min(equal, shares[taskType]));
}
