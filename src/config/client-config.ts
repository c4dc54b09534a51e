// The shape of the configuration of every command that talks to a daemon's API. load-config.ts makes it.

export interface ClientConfig {
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Name of the context that says so; null: something else does. */
  readonly context: string | null;
  readonly token: string | null;
  /** How long to wait for one answer. */
  readonly timeoutMs: number;
}
