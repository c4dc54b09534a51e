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
import { readIndex, writeIndex } from './index-store.ts';

/** `current`: its index is up to date. */
type IndexState = 'indexed' | 'current' | 'left_out';

/** @returns the number of the file's task, and why it was left out. */
export async function indexFile(
  task: FileTask,
  { query, cacheDirectory }: { readonly query: Query; readonly cacheDirectory: string },
  control: ScanControl,
) {
  const zone = new Zone(query.zone);
  const result = (state: IndexState, reason = '') => ({ file: task.number, state, reason });
  if (isCurrent(task, zone, cacheDirectory)) return result('current');
  const { sink, problems } = await scanFile(task, query, control, {
    matcher: EVERY_LINE,
    timed: false,
    begin: () => new FileFacts(zone),
  });
  const reason = control.isStopped() ? 'interrupted' : reasonAgainst(task, sink, problems);
  using bytes = reason === null ? FileBytes.of(task) : null;
  if (bytes === null) return result('left_out', reason ?? 'changed meanwhile');
  const { firstMs, lastMs, filter } = sink;
  writeIndex(cacheDirectory, task, bytes, { zone: zone.name, firstMs, lastMs }, filter.build());
  return result('indexed');
}

/** False when the file cannot be read: the scan reports why. */
function isCurrent(task: FileTask, zone: Zone, cacheDirectory: string): boolean {
  try {
    using bytes = FileBytes.of(task);
    return bytes !== null && readIndex(cacheDirectory, task, bytes, null)?.facts.zone === zone.name;
  } catch {
    return false;
  }
}

function reasonAgainst(task: FileTask, facts: FileFacts, problems: readonly FileProblem[]): string | null {
  const problem = problems.find(isIncomplete);
  if (problem !== undefined) return problem.detail;
  if (facts.filter.overflowed) return 'too many card ids';
  if (facts.cut) return 'an overlong line';
  const now = statSync(task.path, { throwIfNoEntry: false });
  const unchanged = now?.ino === task.ino && now.size === task.size && now.mtimeMs === task.mtimeMs;
  return unchanged ? null : 'changed meanwhile';
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
