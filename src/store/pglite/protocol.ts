// The messages between client.ts (main thread) and worker.ts. The worker's first reply says that it is open, or why it cannot
// open; then it answers one request after the other.
import type { SqlValue } from '../sql/client/sql-client.ts';

/** ':memory:' keeps everything in memory. */
export interface PgliteWorkerData {
  readonly dataDir: string;
}

export type PgliteRequest =
  | { readonly kind: 'query'; readonly sql: string; readonly params: readonly SqlValue[] }
  | { readonly kind: 'script'; readonly sql: string }
  | { readonly kind: 'close' };

export type PgliteReply =
  | { readonly rows: readonly unknown[] }
  | { readonly error: { readonly message: string; readonly code: string | undefined } };
