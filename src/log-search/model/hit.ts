// A stored hit: the source of a sample, a record of `--all` or a line of a trace.
import type { InterfaceName } from '../../domain/gateway-interface.ts';

export interface Hit {
  /** Number of the file's task. */
  readonly file: number;
  /** Position of the line in the file's inflated data. */
  readonly offset: number;
  /** The start of the day if the line has no time at all. */
  readonly timeMs: number;
  readonly interfaces: readonly InterfaceName[];
  /** The line's bytes, without newline. */
  readonly line: Buffer;
  /** True when the line is longer than the stored part. */
  readonly cut: boolean;
}

/** The fields that order hits. */
export type HitOrder = Pick<Hit, 'timeMs' | 'file' | 'offset'>;

/** Time order; lines of the same instant in the order of their files. */
export function compareHits(a: HitOrder, b: HitOrder): number {
  return a.timeMs - b.timeMs || a.file - b.file || a.offset - b.offset;
}

/** A line as text: UTF-8 if valid, otherwise the encoding of UTF-8 and GBK with fewer unknown characters (U+FFFD). */
export function textOf(line: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    const gbk = new TextDecoder('gbk').decode(line);
    const utf8 = new TextDecoder().decode(line);
    return countUnknown(utf8) <= countUnknown(gbk) ? utf8 : gbk;
  }
}

function countUnknown(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\uFFFD'); at !== -1; at = text.indexOf('\uFFFD', at + 1)) count += 1;
  return count;
}
