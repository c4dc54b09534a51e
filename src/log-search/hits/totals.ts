// Adds up the results of the files. Used by search.ts. There may be a million files, so it keeps only the data of each that the
// report shows.
import { compareHits, type FileProblem, type Hit, HitCounts, NOTICES, type Query } from '../model.ts';
import type { FileHits } from './find-hits.ts';

const COUNTS = ['hits', 'undated', 'dated', 'continued', 'ambiguous'] as const;

type OfFile<T> = T & { readonly file: number };

export class Totals {
  readonly counts = new HitCounts();
  readonly samples: Samples;
  /** Only in a search with a window. */
  readonly undatedSamples: Samples;
  readonly matching: OfFile<Pick<HitCounts, 'hits' | 'firstMs' | 'lastMs'>>[] = [];
  readonly problems: OfFile<FileProblem>[] = [];
  readonly runs: string[] = [];
  searchedFiles = 0;
  bytesRead = 0;
  bytesSearched = 0;

  constructor({ samples }: Pick<Query, 'samples'>) {
    this.samples = new Samples(samples);
    this.undatedSamples = new Samples(samples);
  }

  add({ file, counts, problems, ...found }: FileHits): void {
    const { hits, firstMs, lastMs } = counts;
    this.#count(counts);
    this.bytesRead += found.bytesRead;
    this.bytesSearched += found.bytesSearched;
    this.samples.add(found.samples);
    this.undatedSamples.add(found.undatedSamples);
    if (hits > 0) this.matching.push({ file, hits, firstMs, lastMs });
    for (const problem of problems) this.problems.push({ file, ...problem });
    for (const run of found.runs) this.runs.push(run);
    if (!problems.some(({ code }) => NOTICES[code] === 'unread')) this.searchedFiles += 1;
  }

  #count({ firstMs, lastMs, byInterface, ...numbers }: HitCounts): void {
    const { counts } = this;
    for (const key of COUNTS) counts[key] += numbers[key];
    if (firstMs !== null) counts.firstMs = Math.min(counts.firstMs ?? firstMs, firstMs);
    if (lastMs !== null) counts.lastMs = Math.max(counts.lastMs ?? lastMs, lastMs);
    for (const [name, hits] of Object.entries(byInterface))
      counts.byInterface[name] = (counts.byInterface[name] ?? 0) + hits;
  }

  /** Files are searched in any order. Call this after the last one. */
  sort(): void {
    for (const list of [this.matching, this.problems]) list.sort((a, b) => a.file - b.file);
  }
}

/** The first hits in time order, up to the number of samples. */
class Samples {
  #hits: Hit[] = [];

  constructor(private readonly wanted: number) {}

  add(hits: readonly Hit[]): void {
    for (const hit of hits) this.#hits.push(hit);
    if (this.#hits.length > 2 * this.wanted + 100) this.#hits = this.first();
  }

  first(): Hit[] {
    return this.#hits.sort(compareHits).slice(0, this.wanted);
  }
}
