// Indexes one log file: reads all of it, and stores the range of its times and its card ids. Called on every thread
// (threads.ts) for `cardpoll logs index`. Only complete files that no longer grow get an index; searches scan others.

import { statSync } from 'node:fs';
import { EVERY_LINE } from '../match/card-matcher.ts';
import type { Query } from '../model.ts';
import { type FileProblem, type FileTask, isIncomplete } from '../model.ts';
import { FileBytes } from '../read/file-bytes.ts';
import type { LineSink, ScannedLine } from '../scan/line-scanner.ts';
import { type ScanControl, scanFile } from '../scan/scan-file.ts';
import { timeOfLine } from '../time/timestamps.ts';
import { Zone } from '../time/zone.ts';
import { CardFilterBuilder } from './card-filter.ts';
import { identityOf, readIndex, writeIndex } from './index-store.ts';

export interface IndexResult {
  /** Number of the file's task. */
  readonly file: number;
  /** `current`: its index is up to date. */
  readonly state: 'indexed' | 'current' | 'left_out';
  /** Why it was left out. */
  readonly reason: string;
}

export async function indexFile(
  task: FileTask,
  { query, cacheDirectory }: { readonly query: Query; readonly cacheDirectory: string },
  control: ScanControl,
): Promise<IndexResult> {
  const zone = new Zone(query.zone);
  const identity = currentIdentity(task, zone.name, cacheDirectory);
  const result = { file: task.number, reason: '' };
  if (identity === 'indexed') return { ...result, state: 'current' };
  const { sink, problems } = await scanFile(task, query, control, {
    matcher: EVERY_LINE,
    timed: false,
    begin: () => new FileFacts(zone),
  });
  const reason = control.isStopped() ? 'interrupted' : reasonAgainst(task, identity, sink, problems);
  if (reason !== null || identity === null) {
    return { ...result, state: 'left_out', reason: reason ?? 'cannot be read' };
  }
  const { firstMs, lastMs } = sink;
  const facts = { zone: zone.name, firstMs, lastMs };
  writeIndex(cacheDirectory, task, identity, facts, sink.filter.build());
  return { ...result, state: 'indexed' };
}

/** Null when the file cannot be read or was replaced. */
function currentIdentity(task: FileTask, zone: string, cacheDirectory: string): string | 'indexed' | null {
  try {
    using bytes = FileBytes.of(task);
    if (bytes === null) return null;
    const known = readIndex(cacheDirectory, task, bytes, null);
    return known?.facts.zone === zone ? 'indexed' : identityOf(task, bytes);
  } catch {
    return null;
  }
}

function reasonAgainst(
  task: FileTask,
  identity: string | null,
  facts: FileFacts,
  problems: readonly FileProblem[],
): string | null {
  const problem = problems.find(isIncomplete);
  if (problem !== undefined) return problem.detail;
  if (facts.filter.overflowed) return 'too many card ids';
  if (facts.cut) return 'an overlong line';
  const now = statSync(task.path, { throwIfNoEntry: false });
  const unchanged = now?.ino === task.ino && now.size === task.size && now.mtimeMs === task.mtimeMs;
  return identity !== null && unchanged ? null : 'changed meanwhile';
}

class FileFacts implements LineSink {
  readonly filter = new CardFilterBuilder();
  firstMs: number | null = null;
  lastMs: number | null = null;
  cut = false;

  constructor(private readonly zone: Zone) {}

  line({ bytes, from, to, cut }: ScannedLine): void {
    this.cut ||= cut;
    this.filter.addLine(bytes, from, to);
    const time = timeOfLine(bytes, from, to, this.zone)?.ms;
    if (time === undefined) return;
    this.firstMs = Math.min(this.firstMs ?? time, time);
    this.lastMs = Math.max(this.lastMs ?? time, time);
  }
}
