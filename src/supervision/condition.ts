// The condition of a process, for its overseer: the service manager, or the supervisor of several processes.

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
