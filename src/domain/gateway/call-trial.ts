// One call of a trial of a gateway's profile, as `cardpoll gateway try -o json` prints it. No field holds a secret.
import type { InterfaceName } from '../gateway-interface.ts';

export interface CallTrial {
  readonly interface: InterfaceName;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly string[];
    readonly body: string | null;
  } | null;
  /** The proxy of the call: `proxy http://proxy.example:3128 (HTTPS_PROXY)`; null: a direct call. */
  readonly proxy: string | null;
  /** HTTP status; null: no answer. */
  readonly status: number | null;
  /** The first 4,000 characters. */
  readonly answer: string | null;
  readonly duration_ms: number | null;
  readonly ok: boolean;
  /** The value that was read; a volume is in megabytes. */
  readonly value: boolean | number | string | null;
  /**
   * Where the value was read, and in which unit: `data.used (bytes)`, or `module ours.mjs, else data.used (bytes)` if the module
   * may leave it to the profile; null: no value is read.
   */
  readonly read_from: string | null;
  /** How long the vendor's reported work on the call may take; null: none in progress. */
  readonly pending_for_seconds: number | null;
  readonly error: string | null;
  readonly reason: string | null;
  /** What to change; null: the profile fits. */
  readonly hint: string | null;
  /** Why the value may be wrong for other cards; null: no such sign. */
  readonly warning: string | null;
}
