// Adds up what was found in the files. Used by search.ts. There may be a million files, so of each it keeps only what the report
// says about it.
import { compareHits, type FileProblem, type Hit, NOTICES, type Query } from '../model.ts';
import type { FileHits } from './find-hits.ts';

type OfFile<T> = T & { readonly file: number };

export class Totals {
  hits = 0;
  /** Lines of the card without a readable time; in a search with a window they are not counted as hits. */
  undated = 0;
  /** Hits that have the time of the record that they continue. */
  continued = 0;
  /** Hits whose zone is written with a name of more than one meaning. */
  ambiguous = 0;
  firstMs: number | null = null;
  lastMs: number | null = null;
  /** A hit may belong to several; `other`: hits without an interface. */
  readonly byInterface: Record<string, number> = {};
  readonly samples: Samples;
  /** In a search with a window. */
  readonly undatedSamples: Samples;
  readonly matching: OfFile<Pick<FileHits, 'count' | 'firstMs' | 'lastMs'>>[] = [];
  readonly problems: OfFile<FileProblem>[] = [];
  readonly runs: string[] = [];
  searchedFiles = 0;
  bytesRead = 0;
  bytesSearched = 0;

  constructor({ samples }: Pick<Query, 'samples'>) {
    this.samples = new Samples(samples);
    this.undatedSamples = new Samples(samples);
  }

  add({ file, count, firstMs, lastMs, problems, ...found }: FileHits): void {
    this.hits += count;
    this.undated += found.undated;
    this.continued += found.continued;
    this.ambiguous += found.ambiguous;
    this.bytesRead += found.bytesRead;
    this.bytesSearched += found.bytesSearched;
    if (firstMs !== null) this.firstMs = Math.min(this.firstMs ?? firstMs, firstMs);
    if (lastMs !== null) this.lastMs = Math.max(this.lastMs ?? lastMs, lastMs);
    for (const [name, hits] of Object.entries(found.byInterface))
      this.byInterface[name] = (this.byInterface[name] ?? 0) + hits;
    this.samples.add(found.samples);
    this.undatedSamples.add(found.undatedSamples);
    if (count > 0) this.matching.push({ file, count, firstMs, lastMs });
    for (const problem of problems) this.problems.push({ file, ...problem });
    for (const run of found.runs) this.runs.push(run);
    if (!problems.some(({ code }) => NOTICES[code] === 'unread')) this.searchedFiles += 1;
  }

  /** Files are searched in any order. Call it when all are. */
  sort(): void {
    for (const list of [this.matching, this.problems]) list.sort((a, b) => a.file - b.file);
  }
}

/** The first hits in time order, as many as are shown. */
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
