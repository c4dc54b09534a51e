// `--trace`: finds the other lines of the requests of a card's hits, including lines without the card. search.ts collects the
// request ids of the hits with traceTargets, then scans the files around them for lines with one of the ids.

import { CardMatcher, holds, isDigit, type LineMatcher } from '../match/card-matcher.ts';
import { type FindBytes, finderOf, isAt } from '../match/find-bytes.ts';
import type { FileTask, Hit, Query } from '../model.ts';
import type { LineSink, ScannedLine } from '../scan/line-scanner.ts';
import { type ScanControl, scanFile } from '../scan/scan-file.ts';
import { UNDATED } from '../time/line-clock.ts';

interface TraceTarget {
  readonly id: string;
  /** Time range in which to look for lines of the request. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Maximum distance between a hit and the other lines of its request. */
const AROUND_MS = 10 * 60_000;
const MAX_TRACES = 50;
export const MAX_LINES_A_TRACE = 200;
const MAX_LINE_BYTES = 4_096;

const KEY = '(?:x[-_])?(?:trace|request|req|correlation)[-_]?id';
const ID_FIELD = new RegExp(
  String.raw`(?<![\w-])${KEY}(?:\\*"|\\+u0022)?\s*[:=]\s*(?:\\*"|\\+u0022)?([\w.:-]{0,127}[\w-])`,
  'gi',
);
/** The words that languages and servers log for a missing id. */
const NO_ID = /^(?:-+|null|none|nil|undefined)$/i;

/** The ids of the requests a line belongs to. */
function requestIdsOf(line: Buffer): string[] {
  const ids = new Set<string>();
  for (const [, id = ''] of line.toString('latin1').matchAll(ID_FIELD)) {
    if (!NO_ID.test(id)) ids.add(id);
  }
  return [...ids];
}

/** The request ids to look for, from hits in time order; `truncated`: there were more than MAX_TRACES. */
export function traceTargets(hits: Iterable<Hit>) {
  const targets = new Map<string, TraceTarget>();
  let truncated = false;
  for (const { line, timeMs } of hits) {
    for (const id of requestIdsOf(line)) {
      const known = targets.get(id);
      if (known === undefined && targets.size >= MAX_TRACES) {
        truncated = true;
        continue;
      }
      // Without a time the lines may be anywhere.
      const [fromMs, toMs] = Number.isFinite(timeMs)
        ? [timeMs - AROUND_MS, timeMs + AROUND_MS + 1]
        : [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
      targets.set(id, {
        id,
        fromMs: Math.min(known?.fromMs ?? fromMs, fromMs),
        toMs: Math.max(known?.toMs ?? toMs, toMs),
      });
    }
  }
  return { targets: [...targets.values()], truncated };
}

export interface TracedLine extends Omit<Hit, 'interfaces'> {
  readonly id: string;
  /** The line contains the card. */
  readonly isHit: boolean;
}

/** @returns a function that finds the lines of the requests in a file. */
export function findTraceLines({
  query,
  targets,
}: {
  readonly query: Query;
  readonly targets: readonly TraceTarget[];
}) {
  const card = new CardMatcher(query.card);
  const matcher = new IdMatcher(targets.map(({ id }) => id));
  const matchers = new Map(targets.map((target) => [target, new IdMatcher([target.id])]));
  return async (task: FileTask, control: ScanControl) => {
    const { sink, problems } = await scanFile(task, query, control, {
      matcher,
      begin: () => new TraceLines(task.number, matchers, card),
    });
    // The operator did not choose the window of this scan.
    const reported = problems.filter(({ code }) => code !== 'repeated_hour' && code !== 'several_records');
    return { file: task.number, lines: sink.lines, problems: reported, truncated: [...sink.truncated] };
  };
}

/** Matches lines that contain one of the ids as a whole word. */
export class IdMatcher implements LineMatcher {
  readonly #needles: readonly Buffer[];
  readonly #find: FindBytes;

  constructor(ids: readonly string[]) {
    this.#needles = ids.map((id) => Buffer.from(id, 'latin1'));
    this.#find = finderOf(this.#needles);
  }

  next(buf: Buffer, from: number): number {
    return this.#find(buf, from);
  }

  accepts(buf: Buffer, at: number, lineFrom: number, lineTo: number): boolean {
    if (at > lineFrom && isWord(buf[at - 1])) return false;
    return this.#needles.some(
      (needle) =>
        at + needle.length <= lineTo &&
        isAt(buf, needle, at) &&
        (at + needle.length === lineTo || !isWord(buf[at + needle.length])),
    );
  }
}

function isWord(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x7a) || byte === 0x5f || byte === 0x2d;
}

class TraceLines implements LineSink {
  readonly lines: TracedLine[] = [];
  /** Ids with more lines than the stored ones. */
  readonly truncated = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(
    private readonly file: number,
    private readonly matchers: ReadonlyMap<TraceTarget, IdMatcher>,
    private readonly card: CardMatcher,
  ) {}

  line({ bytes, from, to, offset, time }: ScannedLine): void {
    const line = bytes.subarray(from, to);
    for (const [{ id, fromMs, toMs }, matcher] of this.matchers) {
      const isNear = (ms: number | null) => ms !== null && ms >= fromMs && ms < toMs;
      const near = time === UNDATED ? time.ms : [time.ms, time.againMs].find(isNear);
      if (near == null || !holds(matcher, line)) continue;
      const count = (this.#counts.get(id) ?? 0) + 1;
      this.#counts.set(id, count);
      if (count > MAX_LINES_A_TRACE) {
        this.truncated.add(id);
        continue;
      }
      const kept = Buffer.from(line.subarray(0, MAX_LINE_BYTES));
      this.lines.push({
        ...{ id, file: this.file, offset, timeMs: near, line: kept, isHit: holds(this.card, line) },
        cut: kept.length < line.length,
      });
    }
  }
}
