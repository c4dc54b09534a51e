// Finds the hits of one file: their count, first and last time, samples, or all of them. Called on every thread (threads.ts).
// Determines the interface here, because that needs the whole line.

import { join } from 'node:path';
import { INTERFACE_NAMES, type InterfaceName } from '../../domain/gateway-interface.ts';
import { countWords } from '../../domain/words.ts';
import { CardMatcher } from '../match/card-matcher.ts';
import { InterfaceRules } from '../match/interface-rules.ts';
import { type FileProblem, type FileTask, type Hit, HitCounts, type Query } from '../model.ts';
import type { LineSink, ScannedLine } from '../scan/line-scanner.ts';
import { type ScanControl, scanFile } from '../scan/scan-file.ts';
import { UNDATED } from '../time/line-clock.ts';
import type { LineInstants } from '../time/zone.ts';
import { RunWriter } from './hit-runs.ts';

/** Maximum length of a sample, which people read. */
const SAMPLE_BYTES = 4_096;

/** The hits of one file. */
export type FileHits = Awaited<ReturnType<ReturnType<typeof findHits>>>;

/**
 * @param runDirectory directory of the runs when the query keeps all hits; otherwise null. @returns a function that finds the
 * hits of a file.
 */
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
  const rules = wanted.length === 0 ? null : new InterfaceRules(wanted, query.ownSigns, query.strict);
  const newRuns = (file: number) =>
    runDirectory === null ? null : new RunWriter(join(runDirectory, `hits-${file}`));
  return async (task: FileTask, control: ScanControl) => {
    const { sink, problems, ...rest } = await scanFile(task, query, control, {
      matcher,
      begin: () => new HitCollector(query, rules, task.number, newRuns(task.number)),
      forget: (hits) => hits.runs?.discard(),
    });
    sink.runs?.flush();
    const { counts, samples, undatedSamples } = sink;
    const undated = undatedProblem(query.window === null ? 0 : counts.undated);
    const runs: readonly string[] = sink.runs?.paths ?? [];
    const found = { file: task.number, counts, samples, undatedSamples, runs };
    return { ...found, ...rest, problems: [...problems, ...undated] };
  };
}

function undatedProblem(lines: number): FileProblem[] {
  if (lines === 0) return [];
  const what = countWords(lines, 'line of the card has', 'lines of the card have');
  return [{ code: 'undated', detail: `${what} no readable time` }];
}

class HitCollector implements LineSink {
  readonly counts = new HitCounts();
  readonly samples: Hit[] = [];
  readonly undatedSamples: Hit[] = [];

  /** @param runs receives every hit when the query keeps all. */
  constructor(
    private readonly query: Query,
    private readonly rules: InterfaceRules | null,
    private readonly file: number,
    readonly runs: RunWriter | null,
  ) {}

  line(found: ScannedLine): void {
    const { query, rules, counts } = this;
    const { bytes, from, to, time } = found;
    const interfaces = rules === null ? [] : rules.interfacesOf(bytes.toString('latin1', from, to));
    if (query.interface !== null && !interfaces.includes(query.interface)) return;
    const isApart = time === UNDATED && query.window !== null;
    this.#note(time);
    if (!isApart) counts.hits += 1;
    if (query.keep === 'count') return;
    const samples = isApart ? this.undatedSamples : this.samples;
    if (samples.length < query.samples) samples.push(this.#keep(found, interfaces, SAMPLE_BYTES));
    if (isApart) return;
    for (const name of interfaces.length === 0 ? ['other'] : interfaces)
      counts.byInterface[name] = (counts.byInterface[name] ?? 0) + 1;
    this.runs?.add(this.#keep(found, interfaces, Number.POSITIVE_INFINITY));
  }

  #note(time: LineInstants): void {
    const { counts } = this;
    if (time === UNDATED) {
      counts.undated += 1;
      return;
    }
    if (time.isAmbiguous) counts.ambiguous += 1;
    if (time.isContinued) counts.continued += 1;
    else counts.dated += 1;
    counts.firstMs = Math.min(counts.firstMs ?? time.ms, time.ms);
    counts.lastMs = Math.max(counts.lastMs ?? time.ms, time.ms);
  }

  #keep({ bytes, from, to, offset, time }: ScannedLine, interfaces: InterfaceName[], maxBytes: number): Hit {
    const end = Math.min(to, from + maxBytes);
    const line = Buffer.from(bytes.subarray(from, end));
    return { file: this.file, offset, timeMs: time.ms, interfaces, line, cut: end < to };
  }
}
