// Limits that operators set. max_concurrency, the polls in flight of a task type: its default, its bounds and the recommended
// range. Pauses of polling: their bounds, and the names of the operations interface. Used by operations, API and CLI.
import { TASK_TYPES } from '../task-type.ts';
import { span } from '../words.ts';

/** The limit that a task type starts with: safe for a gateway whose response time has not been measured yet. */
export const DEFAULT_MAX_CONCURRENCY = 100;
export const MAX_CONCURRENCY_BOUNDS = { min: 1, max: 100_000 } as const;

/** The recommendation of the operations interface, section 8, for an average gateway response time; both ends included. */
export function recommendedConcurrency(responseMs: number): { readonly min: number; readonly max: number } {
  if (responseMs < 100) return { min: 100, max: 200 };
  return responseMs <= 500 ? { min: 50, max: 100 } : { min: 20, max: 50 };
}

/** One second to a week; to stop polling for longer, disable its configs. */
export const PAUSE_SECONDS_BOUNDS = { min: 1, max: 604_800 } as const;
export const DEFAULT_PAUSE_SECONDS = 600;

/** A longer pause needs a reason, and one that has lasted this long reminds the receivers of alerts: it may be forgotten. */
export const REASON_AFTER_SECONDS = 3_600;

/** Who pauses polling. A pause of one never hides the other's. */
export const PAUSE_SOURCES = ['gateway', 'operator'] as const;
export type PauseSource = (typeof PAUSE_SOURCES)[number];

/** One task type, or all of them. */
export const PAUSABLE = [...TASK_TYPES, 'all'] as const;
export type Pausable = (typeof PAUSABLE)[number];

/**
 * THE rule of API, command line and dashboard for the reason of a pause.
 * @returns what is wrong, and the command that is right; null: nothing is.
 */
export function lackOfReason(
  taskType: Pausable,
  seconds: number,
  reason: string,
): { readonly problem: string; readonly command: string } | null {
  if (seconds <= REASON_AFTER_SECONDS || reason.trim() !== '') return null;
  return {
    problem: `a pause of more than ${span(REASON_AFTER_SECONDS)} needs a reason: colleagues see it for so long`,
    command: `cardpoll pause ${taskType} --for ${typed(seconds)} --reason 'gateway maintenance'`,
  };
}

/** As one word: `2h`, `90m`, `3601s`. */
function typed(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** One order sets the pauses of several task types within this time. */
const SAME_PAUSE_MS = 2_000;

/** Whether all of them are one pause of several task types. */
export function areOnePause(
  pauses: ReadonlyArray<
    { readonly [Field in 'source' | 'by' | 'reason']: string } & { readonly untilMs: number }
  >,
): boolean {
  const [first, ...others] = pauses;
  if (first === undefined || others.length === 0) return false;
  return others.every(
    ({ source, by, reason, untilMs }) =>
      source === first.source &&
      by === first.by &&
      reason === first.reason &&
      Math.abs(untilMs - first.untilMs) <= SAME_PAUSE_MS,
  );
}

/**
 * The limit in force of a task type, for reports. In a new life of the live store a share may be 0 for a moment.
 * @param leaderLimit null: the leader has set none
 */
export function reportedLimit(maxConcurrency: number | null, leaderLimit: number | null): number {
  return Math.max(
    1,
    Math.min(maxConcurrency ?? DEFAULT_MAX_CONCURRENCY, leaderLimit ?? Number.POSITIVE_INFINITY),
  );
}
