// What the hits of one file come to: counts, first and last, samples, or all of them. The sink of scan.ts; decides
// about the interface, which needs the line and not only the bytes around the card.

import { INTERFACES, type InterfaceName, interfacesOf } from '../match/interface-alias.ts';
import type { Query } from '../plan/query.ts';
import type { LineSink, ScannedLine } from '../scan/line-scanner.ts';
import type { Hit } from './hit.ts';
import type { RunWriter } from './hit-runs.ts';

/** Samples are to be read by people. */
const SAMPLE_BYTES = 4_096;

export type InterfaceCounts = Partial<Record<InterfaceName | 'other', number>>;

export class FileHits implements LineSink {
  count = 0;
  /** A line may belong to several. */
  readonly byInterface: InterfaceCounts = {};
  firstMs: number | null = null;
  lastMs: number | null = null;
  readonly samples: Hit[] = [];
  readonly #wanted: readonly InterfaceName[];
  readonly #inPieces = new Set<InterfaceName>();

  /** @param runs gets every hit when all are kept. */
  constructor(
    private readonly query: Query,
    private readonly file: number,
    readonly runs: RunWriter | null,
  ) {
    const one = query.interface === null ? [] : [query.interface];
    this.#wanted = query.keep === 'count' ? one : INTERFACES;
  }

  line(found: ScannedLine): void {
    const { query } = this;
    const interfaces = this.#interfacesOf(found);
    if (query.interface !== null && !interfaces.includes(query.interface)) return;
    this.count += 1;
    if (found.time === null) return;
    const timeMs = found.time.fromMs;
    this.firstMs = Math.min(this.firstMs ?? timeMs, timeMs);
    this.lastMs = Math.max(this.lastMs ?? timeMs, timeMs);
    if (query.keep === 'count') return;
    for (const name of interfaces.length === 0 ? (['other'] as const) : interfaces) {
      this.byInterface[name] = (this.byInterface[name] ?? 0) + 1;
    }
    if (this.samples.length < query.samples) this.samples.push(this.#keep(found, interfaces, SAMPLE_BYTES));
    this.runs?.add(this.#keep(found, interfaces, Number.POSITIVE_INFINITY));
  }

  piece(latin1: string): void {
    for (const name of interfacesOf(latin1, this.#wanted, this.query.strict)) this.#inPieces.add(name);
  }

  endPieces(): void {
    this.#inPieces.clear();
  }

  #interfacesOf({ bytes, from, to, cut }: ScannedLine): InterfaceName[] {
    if (this.#wanted.length === 0) return [];
    const text = bytes.toString('latin1', from, to);
    const found = interfacesOf(text, this.#wanted, this.query.strict);
    return cut ? this.#wanted.filter((name) => found.includes(name) || this.#inPieces.has(name)) : found;
  }

  #keep(found: ScannedLine, interfaces: readonly InterfaceName[], maxBytes: number): Hit {
    const { bytes, from, to, offset, cut } = found;
    const end = Math.min(to, from + maxBytes);
    return {
      file: this.file,
      offset,
      timeMs: found.time?.fromMs ?? 0,
      interfaces,
      line: Buffer.from(bytes.subarray(from, end)),
      cut: cut || end < to,
    };
  }
}
