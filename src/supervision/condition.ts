// How a process does, for whoever supervises it: the service manager, or the supervisor of several processes.

export interface Condition {
  /** Why it is not ready, one sentence each; empty when it is. */
  readonly problems: readonly string[];
  /** What in it is stuck, so that only a restart helps; empty when all goes on. */
  readonly stuck: readonly string[];
  /** What it does, one line for people. */
  readonly status: string;
}

/** Who is told how the process does. */
export interface Overseer {
  /** Looks at the condition from now on, again and again. */
  watch(condition: () => Condition): void;
  /** Is told that the configuration is read anew, and when that has ended. */
  reload(work: () => Promise<void>): Promise<void>;
  /** Is told that the process ends by itself, at the latest after this time. */
  stopping(withinMs: number): void;
}
