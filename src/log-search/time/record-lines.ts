// Decides which lines continue the record above them, and which time a line has. A line that continues no record starts one, and
// has its own time or none. A record of JSON or YAML over several lines has the time of its member above the line; a time below,
// or of another record, is not the line's. Used by line-clock.ts. Pure.
import type { LineReading, TimeReader } from './time-reader.ts';

/** A key in quotes, or an indented key with only a time or a number after it. */
const MEMBER =
  /^(?:[ \t]*(["'])[\w.@$-]{1,24}\1\s*:|[ \t]+[A-Za-z_@][\w.-]{0,23}:\s+["']?\d[\dT:.+Z -]*["']?\s*$)/;
/** Continues a record without indentation. */
const CONTINUES = /^(?:at |Caused by\b|\.\.\. \d+ |[}\])]|\{\s*$)/;
const MAY_CONTINUE: ReadonlySet<number> = new Set(Buffer.from(`aC.}]){"'`));
/** A bracket alone, or an item of a list, opens a separate record, unless the line above ends with a sign that it follows. */
const OPENS_RECORD = /^[ \t]*[\]}]*,?\s*[[{]+\s*$/;
const IS_ITEM = /^[ \t]+- /;
const IS_OBJECT = /^[ \t]*\{\s*["'}]/;
const ANNOUNCES = /[:=>]\s*$/;
const HEAD_BYTES = 160;
const TAIL_BYTES = 8;

/** Whether the line buf[from, to) belongs to the record above it. */
export function continuesRecord(buf: Buffer, from: number, to: number): boolean {
  const first = buf[from];
  if (from >= to || first === 0x20 || first === 0x09 || first === 0x0d || first === 0x0a) return true;
  // The first bytes decide for most lines.
  if (first === undefined || !MAY_CONTINUE.has(first) || (first === 0x7b && buf[from + 1] === 0x22))
    return false;
  const head = headOf(buf, from, to);
  return CONTINUES.test(head) || MEMBER.test(head);
}

/** Goes back from a line, line by line, to the time of its record. */
export class RecordWalk {
  /** Indentation of the part of the record that the line is in; -1 before the first line. */
  level = -1;
  /** The line below opens a record. */
  #isOpened = false;

  constructor(private readonly times: TimeReader) {}

  /** undefined: the time is in a line above this one. */
  back(buf: Buffer, from: number, to: number): Exclude<LineReading, undefined> | undefined {
    const isFirst = this.level === -1;
    if (this.#isOpened && !ANNOUNCES.test(buf.toString('latin1', Math.max(from, to - TAIL_BYTES), to)))
      return 'unreadable';
    this.#isOpened = false;
    if (!continuesRecord(buf, from, to)) return this.times.read(buf, from, to) ?? 'unreadable';
    const head = headOf(buf, from, to);
    const indent = head.search(/[^ \t\r\n]/);
    if (indent === -1 || (indent > this.level && !isFirst)) return undefined;
    const isOuter = indent < this.level;
    this.level = indent;
    this.#isOpened = isOuter && OPENS_RECORD.test(head);
    if (isOuter && IS_ITEM.test(head)) return this.times.read(buf, from, to) ?? 'unreadable';
    if (MEMBER.test(head)) return this.times.readMember(buf, from, to);
    if (!isFirst) return undefined;
    const own = this.times.read(buf, from, to);
    if (own !== undefined && IS_OBJECT.test(head)) return own;
    // A date at the start of an indented line may be its time, or a part of the record.
    return own !== undefined && /^[ \t]+[[("']?\d/.test(head) ? 'unreadable' : undefined;
  }
}

function headOf(buf: Buffer, from: number, to: number): string {
  return buf.toString('latin1', from, Math.min(to, from + HEAD_BYTES));
}
