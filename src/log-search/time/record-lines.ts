// Lines of records that are written over several lines, as indented JSON and YAML are. The time of such a record may stand below
// the line with the card, and that of the record before it above: only a time of the same record is that of the line. Used by
// timestamps.ts and line-clock.ts. Pure.

/** A key in quotes, or an indented one with nothing but a time or a number behind it. */
const MEMBER =
  /^(?:[ \t]*(["'])[\w.@$-]{1,24}\1\s*:|[ \t]+[A-Za-z_@][\w.-]{0,23}:\s+["']?\d[\dT:.+Z -]*["']?\s*$)/;
/** What opens a part of a record; a bracket alone, or an item of a list, opens a record. */
const OPENS_PART = /^[ \t]*["']?[\w.@$-]+["']?\s*:\s*[[{]?\s*$/;
const HEAD_BYTES = 160;

export function isMemberLine(buf: Buffer, from: number, to: number): boolean {
  const first = buf[from];
  if (first !== 0x20 && first !== 0x09 && first !== 0x22 && first !== 0x27) return false;
  return MEMBER.test(headOf(buf, from, to));
}

/** Goes back from a line, line by line, and knows whether it is still in the same record. */
export class RecordWalk {
  #level: number;
  #hasLeft = false;

  constructor(buf: Buffer, from: number, to: number) {
    this.#level = indentOf(buf, from, to);
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Whose member the line is: of the record (or a part of it that the first line is in), of another part, or of another record. */
  back(buf: Buffer, from: number, to: number): 'ours' | 'inner' | 'other' {
    const indent = indentOf(buf, from, to);
    if (indent > this.#level) return 'inner';
    if (indent < this.#level && indent < to - from) {
      if (!OPENS_PART.test(headOf(buf, from, to))) this.#hasLeft = true;
      this.#level = indent;
    }
    return this.#hasLeft ? 'other' : 'ours';
  }
}

function indentOf(buf: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to && (buf[at] === 0x20 || buf[at] === 0x09)) at += 1;
  return at - from;
}

function headOf(buf: Buffer, from: number, to: number): string {
  return buf.toString('latin1', from, Math.min(to, from + HEAD_BYTES));
}
