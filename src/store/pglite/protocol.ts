// The messages between client.ts (main thread) and worker.ts. One request, one reply with its id; the
// worker answers in order.
import type { SqlValue } from '../sql/client/sql-client.ts';

/** ':memory:' keeps everything in memory. */
export interface PgliteWorkerData {
  readonly dataDir: string;
}

export type PgliteTask =
  | { readonly kind: 'query'; readonly sql: string; readonly params: readonly SqlValue[] }
  | { readonly kind: 'script'; readonly sql: string }
  | { readonly kind: 'close' };

export type PgliteRequest = PgliteTask & { readonly id: number };

export type PgliteReply =
  | { readonly id: number; readonly rows: readonly unknown[] }
  | { readonly id: number; readonly error: { readonly message: string; readonly code: string | undefined } };

/** The id under which the worker reports that it is open (or why it cannot be). */
export const OPENING = 0;
