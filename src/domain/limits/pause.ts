// Pauses of polling: their bounds, and the names of the operations interface. Used by operations, API and CLI.
import { TASK_TYPES } from '../task-type.ts';

/** One second to a week; to stop polling for longer, disable its configs. */
export const PAUSE_SECONDS_BOUNDS = { min: 1, max: 604_800 } as const;
export const DEFAULT_PAUSE_SECONDS = 600;

/** One task type, or all of them. */
export const PAUSABLE = [...TASK_TYPES, 'all'] as const;
export type Pausable = (typeof PAUSABLE)[number];
