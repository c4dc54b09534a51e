// What a thread does with each file: find the card's lines, the lines of its requests, or index it. Plain data, so that
// it can be handed to a worker thread.
import type { Query } from '../plan/query.ts';

export interface TraceTarget {
  readonly id: string;
  /** Lines of the request are looked for within. */
  readonly fromMs: number;
  readonly toMs: number;
}

export type ScanWork =
  | { readonly kind: 'hits'; readonly query: Query; readonly runDirectory: string | null }
  | { readonly kind: 'trace'; readonly query: Query; readonly targets: readonly TraceTarget[] }
  | { readonly kind: 'index'; readonly query: Query; readonly cacheDirectory: string };
