// Finds the hits of one file: their count, first and last time, samples, or all of them. Called on every thread
// (threads.ts). Decides about the interface here, because that needs the whole line.

import { join } from 'node:path';
import { INTERFACE_NAMES, type InterfaceName } from '../../domain/gateway-interface.ts';
import { countWords } from '../../domain/words.ts';
import { CardMatcher } from '../match/card-matcher.ts';
import { InterfaceRules } from '../match/interface-rules.ts';
import type { FileProblem, FileTask, Hit, Query } from '../model.ts';
import type { LineSink, ScannedLine } from '../scan/line-scanner.ts';
import { type ScanControl, scanFile } from '../scan/scan-file.ts';
import { type LineTime, UNDATED } from '../time/line-clock.ts';
import { RunWriter } from './hit-runs.ts';

/** Maximum length of a sample, which is for people to read. */
const SAMPLE_BYTES = 4_096;

type InterfaceCounts = Partial<Record<InterfaceName | 'other', number>>;

/** The hits of one file. */
export type FileHits = Awaited<ReturnType<typeof findHits>>;

/** @param runDirectory where hits are kept when the query keeps all; otherwise null. */
export async function findHits(
  task: FileTask,
  { query, runDirectory }: { readonly query: Query; readonly runDirectory: string | null },
  control: ScanControl,
) {
  const newRuns = () =>
    runDirectory === null ? null : new RunWriter(join(runDirectory, `hits-${task.number}`));
  const { sink, problems, ...rest } = await scanFile(task, query, control, {
    matcher: new CardMatcher(query.card),
    timed: query.keep !== 'count',
    begin: () => new HitCollector(query, task.number, newRuns()),
    forget: (hits) => hits.runs?.discard(),
  });
  sink.runs?.flush();
  const { count, undated, ambiguous, datedByName, byInterface, firstMs, lastMs, samples } = sink;
  const runs: readonly string[] = sink.runs?.paths ?? [];
  return {
    ...{
      file: task.number,
      count,
      undated,
      ambiguous,
      datedByName,
      byInterface,
      firstMs,
      lastMs,
      samples,
      runs,
    },
    ...rest,
    problems: [...problems, ...undatedProblem(undated)],
  };
}

function undatedProblem(lines: number): FileProblem[] {
  if (lines === 0) return [];
  const what = countWords(lines, 'line of the card has', 'lines of the card have');
  return [{ code: 'undated', detail: `${what} no readable time` }];
}

class HitCollector implements LineSink {
  count = 0;
  /** Of a search with a window: lines that may be in it. They are not counted as hits. */
  undated = 0;
  /** Hits whose time is written with the name of a zone that has more than one meaning. */
  ambiguous = 0;
  /** Hits whose day is that of the file's name. */
  datedByName = 0;
  /** A line may belong to several. */
  readonly byInterface: InterfaceCounts = {};
  firstMs: number | null = null;
  lastMs: number | null = null;
  readonly samples: Hit[] = [];
  readonly #wanted: readonly InterfaceName[];
  /** Created for the first hit, since most files have none. */
  #rules: InterfaceRules | null = null;
  readonly #inPieces = new Set<InterfaceName>();

  /** @param runs gets every hit when the query keeps all. */
  constructor(
    private readonly query: Query,
    private readonly file: number,
    readonly runs: RunWriter | null,
  ) {
    const one = query.interface === null ? [] : [query.interface];
    this.#wanted = query.keep === 'count' ? one : INTERFACE_NAMES;
  }

  line(found: ScannedLine): void {
    const { query } = this;
    const interfaces = this.#interfacesOf(found);
    if (query.interface !== null && !interfaces.includes(query.interface)) return;
    if (found.time === UNDATED && query.window !== null) {
      this.undated += 1;
      return;
    }
    this.count += 1;
    if (found.time === null) return;
    this.#note(found.time);
    if (query.keep === 'count') return;
    for (const name of interfaces.length === 0 ? (['other'] as const) : interfaces) {
      this.byInterface[name] = (this.byInterface[name] ?? 0) + 1;
    }
    if (this.samples.length < query.samples) this.samples.push(this.#keep(found, interfaces, SAMPLE_BYTES));
    this.runs?.add(this.#keep(found, interfaces, Number.POSITIVE_INFINITY));
  }

  #note(time: LineTime): void {
    if (time.zoneName !== undefined) this.ambiguous += 1;
    if (time.isDayOfName) this.datedByName += 1;
    if (time === UNDATED) return;
    this.firstMs = Math.min(this.firstMs ?? time.ms, time.ms);
    this.lastMs = Math.max(this.lastMs ?? time.ms, time.ms);
  }

  piece(latin1: string): void {
    for (const name of this.#interfacesIn(latin1)) this.#inPieces.add(name);
  }

  endPieces(): void {
    this.#inPieces.clear();
  }

  #interfacesOf({ bytes, from, to, cut }: ScannedLine): InterfaceName[] {
    const found = this.#wanted.length === 0 ? [] : this.#interfacesIn(bytes.toString('latin1', from, to));
    return cut ? this.#wanted.filter((name) => found.includes(name) || this.#inPieces.has(name)) : found;
  }

  #interfacesIn(latin1: string): InterfaceName[] {
    this.#rules ??= new InterfaceRules(this.#wanted, this.query.ownSigns, this.query.strict);
    return this.#rules.interfacesOf(latin1);
  }

  #keep(found: ScannedLine, interfaces: readonly InterfaceName[], maxBytes: number): Hit {
    const { bytes, from, to, offset, cut } = found;
    const end = Math.min(to, from + maxBytes);
    return {
      file: this.file,
      offset,
      timeMs: found.time?.ms ?? 0,
      interfaces,
      line: Buffer.from(bytes.subarray(from, end)),
      cut: cut || end < to,
    };
  }
}
