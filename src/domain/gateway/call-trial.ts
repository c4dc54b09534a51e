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
  /** What the call went through: `proxy http://proxy.example:3128 (HTTPS_PROXY)`; null: it went to the gateway directly. */
  readonly proxy: string | null;
  /** HTTP status; null: no answer. */
  readonly status: number | null;
  /** The first 4,000 characters. */
  readonly answer: string | null;
  readonly duration_ms: number | null;
  readonly ok: boolean;
  /** What was read: a volume in megabytes. */
  readonly value: boolean | number | string | null;
  /**
   * Where it was read, and in which unit: `data.used (bytes)`, or `module ours.mjs, else data.used (bytes)` if the module may
   * leave it to the profile; null: nothing is read.
   */
  readonly read_from: string | null;
  /** The vendor still works on it, as the answer says, for so long at most; null: the answer does not say so. */
  readonly pending_for_seconds: number | null;
  readonly error: string | null;
  readonly reason: string | null;
  /** What to change; null when the profile fits. */
  readonly hint: string | null;
  /** Why a value that was read may be wrong for other cards; null: nothing points to it. */
  readonly warning: string | null;
}
