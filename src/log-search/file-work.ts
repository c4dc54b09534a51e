// The functions that a thread of a search can apply to a file, by name. Used by search.ts and index-logs.ts, and by
// scan-worker.ts: a function cannot be sent to a worker thread, so a thread gets the name.
import { findHits } from './hits/find-hits.ts';
import { findTraceLines } from './hits/trace-lines.ts';
import { indexFile } from './index/index-file.ts';

export const FILE_WORK = { findHits, findTraceLines, indexFile } as const;
