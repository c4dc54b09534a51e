// What a supervisor and its processes tell each other over Node's channel between parent and child. Data only.
import type { Condition } from './condition.ts';

/** Names the number of a process in its environment: 0 serves and may lead, all of them poll. */
export const PROCESS_NUMBER = 'SUPERVISED_PROCESS';

/** How often a process says how it does. */
export const TELL_EVERY_MS = 1_000;

/** Numbers of one process as its registry of metrics has them. */
export type Numbers = readonly object[];

export type ToProcess =
  | { readonly kind: 'stop' }
  | { readonly kind: 'reload' }
  /** To process 0, of all others. */
  | { readonly kind: 'others'; readonly problems: readonly string[]; readonly numbers: readonly Numbers[] };

export type FromProcess =
  | { readonly kind: 'condition'; readonly condition: Condition; readonly numbers: Numbers }
  | { readonly kind: 'reloaded' };
