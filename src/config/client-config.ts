// The shape of the configuration of every command that talks to a daemon's API. load-config.ts makes it.

export interface ClientConfig {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Name of the context that gives the URL; null: it comes from another source. */
  readonly context: string | null;
  readonly token: string | null;
  /** Time limit for one answer, in milliseconds. */
  readonly timeoutMs: number;
}
