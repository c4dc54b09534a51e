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
import { UNDATED } from '../time/line-clock.ts';
import type { LineInstants } from '../time/zone.ts';
import { RunWriter } from './hit-runs.ts';

/** Maximum length of a sample, which is for people to read. */
const SAMPLE_BYTES = 4_096;

type InterfaceCounts = Partial<Record<InterfaceName | 'other', number>>;

/** The hits of one file. */
export type FileHits = Awaited<ReturnType<ReturnType<typeof findHits>>>;

/** @param runDirectory where hits are kept when the query keeps all; otherwise null. @returns what finds the hits of a file. */
export function findHits({
  query,
  runDirectory,
}: {
  readonly query: Query;
  readonly runDirectory: string | null;
}) {
  const matcher = new CardMatcher(query.card);
  const one = query.interface === null ? [] : [query.interface];
  const wanted = query.keep === 'count' ? one : INTERFACE_NAMES;
  const rules = new InterfaceRules(wanted, query.ownSigns, query.strict);
  const newRuns = (file: number) =>
    runDirectory === null ? null : new RunWriter(join(runDirectory, `hits-${file}`));
  return async (task: FileTask, control: ScanControl) => {
    const { sink, problems, ...rest } = await scanFile(task, query, control, {
      matcher,
      begin: () => new HitCollector(query, rules, task.number, newRuns(task.number)),
      forget: (hits) => hits.runs?.discard(),
    });
    sink.runs?.flush();
    const { count, undated, continued, ambiguous, byInterface, firstMs, lastMs } = sink;
    const runs: readonly string[] = sink.runs?.paths ?? [];
    return {
      ...{ file: task.number, count, undated, continued, ambiguous, byInterface, firstMs, lastMs, runs },
      samples: sink.samples,
      undatedSamples: sink.undatedSamples,
      ...rest,
      problems: [...problems, ...undatedProblem(query.window === null ? 0 : undated)],
    };
  };
}

function undatedProblem(lines: number): FileProblem[] {
  if (lines === 0) return [];
  const what = countWords(lines, 'line of the card has', 'lines of the card have');
  return [{ code: 'undated', detail: `${what} no readable time` }];
}

class HitCollector implements LineSink {
  /** Hits; in a search with a window without those that are undated. */
  count = 0;
  /** Lines without a readable time. */
  undated = 0;
  /** Hits that have the time of the record that they continue. */
  continued = 0;
  /** Hits whose time is written with the name of a zone that has more than one meaning. */
  ambiguous = 0;
  /** A line may belong to several. */
  readonly byInterface: InterfaceCounts = {};
  firstMs: number | null = null;
  lastMs: number | null = null;
  readonly samples: Hit[] = [];
  readonly undatedSamples: Hit[] = [];

  /** @param runs gets every hit when the query keeps all. */
  constructor(
    private readonly query: Query,
    private readonly rules: InterfaceRules,
    private readonly file: number,
    readonly runs: RunWriter | null,
  ) {}

  line(found: ScannedLine): void {
    const { query } = this;
    const interfaces = this.rules.interfacesOf(found.bytes.toString('latin1', found.from, found.to));
    if (query.interface !== null && !interfaces.includes(query.interface)) return;
    const isApart = found.time === UNDATED && query.window !== null;
    this.#note(found.time);
    if (!isApart) this.count += 1;
    if (query.keep === 'count') return;
    const samples = isApart ? this.undatedSamples : this.samples;
    if (samples.length < query.samples) samples.push(this.#keep(found, interfaces, SAMPLE_BYTES));
    if (isApart) return;
    for (const name of interfaces.length === 0 ? (['other'] as const) : interfaces) {
      this.byInterface[name] = (this.byInterface[name] ?? 0) + 1;
    }
    this.runs?.add(this.#keep(found, interfaces, Number.POSITIVE_INFINITY));
  }

  #note(time: LineInstants): void {
    if (time === UNDATED) {
      this.undated += 1;
      return;
    }
    if (time.isAmbiguous) this.ambiguous += 1;
    if (time.isContinued) this.continued += 1;
    this.firstMs = Math.min(this.firstMs ?? time.ms, time.ms);
    this.lastMs = Math.max(this.lastMs ?? time.ms, time.ms);
  }

  #keep({ bytes, from, to, offset, time }: ScannedLine, interfaces: InterfaceName[], maxBytes: number): Hit {
    const end = Math.min(to, from + maxBytes);
    const line = Buffer.from(bytes.subarray(from, end));
    return { file: this.file, offset, timeMs: time.ms, interfaces, line, cut: end < to };
  }
}
