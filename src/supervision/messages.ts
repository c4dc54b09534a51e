// Messages between a supervisor and its processes, over Node's channel between parent and child. Data only.
import type { Condition } from './condition.ts';

/** Environment variable with the number of a process: 0 serves and may lead, all of them poll. */
export const PROCESS_NUMBER = 'SUPERVISED_PROCESS';

/** How often a process reports its condition. */
export const REPORT_EVERY_MS = 1_000;

/** The metrics of one process, as its registry has them. */
export type Numbers = readonly object[];

export type ToProcess =
  | { readonly kind: 'stop' }
  | { readonly kind: 'reload' }
  /** To process 0: the metrics of all other processes. */
  | { readonly kind: 'others'; readonly problems: readonly string[]; readonly numbers: readonly Numbers[] };

export type FromProcess =
  | { readonly kind: 'condition'; readonly condition: Condition; readonly numbers: Numbers }
  | { readonly kind: 'reloaded' };
