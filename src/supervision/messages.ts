// What a process and its overseer (the service manager, or the supervisor of several processes) tell each other. The messages of
// a supervisor go over Node's channel between parent and child. Types and constants only.

/** The condition of a process, for its overseer. */
export interface Condition {
  /** Why it is not ready, one sentence each; empty when it is ready. */
  readonly problems: readonly string[];
  /** Names of the parts that are stuck, so that only a restart helps; empty when none is. */
  readonly stuck: readonly string[];
  /** One line for people. */
  readonly status: string;
}

/** Is informed about the condition of the process. */
export interface Overseer {
  /** Checks the condition periodically from now on. */
  watch(condition: () => Condition): void;
  /** Runs `work`, which reloads the configuration, and reports its start and end. */
  reload(work: () => Promise<void>): Promise<void>;
  /** Reports that the process shuts down, within this many milliseconds. */
  stopping(withinMs: number): void;
}

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
