// Restores lines that a container runtime or journald wrote in another form than they were logged: parts of long lines (CRI tags
// them P, and F at the last; Docker leaves out the final newline), and messages as lists of bytes. Runs before line-scanner.ts;
// other data passes unchanged. The form is recognised at the beginning of a file, because a runtime writes separate files.
import type { Region, RegionSink } from './whole-lines.ts';

/** A part of a line: buf[from, to) is its text. */
interface Part {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

/** A runtime's form of parts. */
interface Form {
  /** Position of the first part that is not the last of its line, at or after `from`; -1: none. */
  next(buf: Buffer, from: number): number;
  /** The part in the line buf[from, to); null: the line is not a part. */
  read(buf: Buffer, from: number, to: number): Part | null;
}

const NEWLINE = 0x0a;
const CRI_PARTIAL = Buffer.from(' P ');
const CRI = /^\d{4}-\d\d-\d\dT\S{8,32} (stdout|stderr) ([PF]) /;
const CRI_BYTES = 64;
const CRI_FILE = new RegExp(CRI.source, 'm');
const DOCKER_START = Buffer.from('{"log":"');
const DOCKER_END = Buffer.from('","stream":"');
const DOCKER_NEWLINE = Buffer.from('\\n');
const JOURNAL = Buffer.from('"__REALTIME_TIMESTAMP"');
const BYTE_LIST = /"MESSAGE" ?: ?\[([\d, ]*)\]/;
const HEAD_BYTES = 65_536;
/** Maximum length of a joined line. Of a longer line each stretch of this length is searched as a line. */
const MAX_JOINED_BYTES = 1_048_576;

function criPart(buf: Buffer, from: number, to: number): Part | null {
  const found = CRI.exec(buf.toString('latin1', from, Math.min(to, from + CRI_BYTES)));
  if (found === null) return null;
  const [{ length }, stream = '', tag] = found;
  return { stream, from: from + length, to, isLast: tag === 'F' };
}

function dockerPart(buf: Buffer, from: number, to: number): Part | null {
  const start = from + DOCKER_START.length;
  if (buf.compare(DOCKER_START, 0, DOCKER_START.length, from, Math.min(start, to)) !== 0) return null;
  const end = buf.indexOf(DOCKER_END, start);
  if (end === -1 || end > to) return null;
  const stream = buf.toString('latin1', end + DOCKER_END.length, Math.min(to, end + DOCKER_END.length + 6));
  return { stream, from: start, to: end, isLast: buf.compare(DOCKER_NEWLINE, 0, 2, end - 2, end) === 0 };
}

const CRI_FORM: Form = { next: (buf, from) => buf.indexOf(CRI_PARTIAL, from), read: criPart };

const DOCKER_FORM: Form = {
  next: (buf, from) => {
    let at = buf.indexOf(DOCKER_END, from);
    while (at !== -1 && buf[at - 1] === DOCKER_NEWLINE[1] && buf[at - 2] === DOCKER_NEWLINE[0])
      at = buf.indexOf(DOCKER_END, at + 1);
    return at;
  },
  read: dockerPart,
};

/** Converts messages that are lists of bytes to text. */
function withText(line: string): string {
  return line.replace(BYTE_LIST, (_, list: string) => {
    const bytes = Buffer.from(list.split(',').map(Number));
    return `"MESSAGE":${JSON.stringify(bytes.toString('latin1'))}`;
  });
}

/** A line whose last part has not arrived. */
interface OpenLine {
  /** The data before and after the text in the first part, whose time is the time of the line. */
  readonly before: Buffer;
  readonly after: Buffer;
  parts: Buffer[];
  bytes: number;
}

function takeWhole(open: OpenLine): Buffer {
  const line = Buffer.concat([open.before, ...open.parts, open.after]);
  open.parts = [];
  open.bytes = 0;
  return line;
}

export class ContainerLines implements RegionSink {
  /** Undefined before the first data; null: no parts to join. */
  #form: Form | null | undefined;
  #isJournal = false;
  readonly #open = new Map<string, OpenLine>();
  /** Number of lines that were too long to be joined. */
  longLines = 0;

  constructor(private readonly sink: RegionSink) {}

  /** Passes unchanged data on in as few pieces as possible. */
  region(region: Region): void {
    const { buf, from: first, to: end, offset } = region;
    if (this.#form === undefined) this.#recognize(buf.subarray(first, Math.min(end, first + HEAD_BYTES)));
    const isAsItIs = (this.#form === null && !this.#isJournal) || region.isPart;
    let passed = first;
    for (let from = isAsItIs ? end : first; ; ) {
      from = this.#nextChange(buf, from, end);
      if (from >= end) break;
      const newline = buf.indexOf(NEWLINE, from);
      const to = newline === -1 || newline > end ? end : newline;
      const changed = this.#changed(buf, from, to);
      if (changed !== undefined) {
        if (from > passed) this.sink.region({ ...region, from: passed, to: from });
        if (changed !== null) this.#pass(changed, offset + from);
        passed = to + 1;
      }
      from = to + 1;
    }
    if (passed < end) this.sink.region({ ...region, from: passed });
  }

  /** Ends all lines that wait for parts. */
  endLines(): void {
    for (const open of this.#open.values()) this.#pass(takeWhole(open), 0);
    this.#open.clear();
  }

  #pass(line: Buffer, offset: number): void {
    this.sink.region({ buf: line, from: 0, to: line.length, offset, isPart: false });
  }

  #recognize(head: Buffer): void {
    this.#isJournal = head.includes(JOURNAL);
    if (head.indexOf(DOCKER_START) !== -1 && head.includes(DOCKER_END)) this.#form = DOCKER_FORM;
    else this.#form = CRI_FILE.test(head.toString('latin1')) ? CRI_FORM : null;
  }

  /** The first line at or after the line `from` that may need a change. */
  #nextChange(buf: Buffer, from: number, end: number): number {
    if (this.#isJournal || !this.#form || this.#open.size > 0 || from >= end) return from;
    const at = this.#form.next(buf, from);
    return at === -1 ? end : Math.max(from, buf.lastIndexOf(NEWLINE, at) + 1);
  }

  /** The line to search instead of buf[from, to); null: joined with a later one; undefined: the line itself. */
  #changed(buf: Buffer, from: number, to: number): Buffer | null | undefined {
    if (this.#isJournal) return this.#decoded(buf, from, to);
    const part = this.#form?.read(buf, from, to) ?? null;
    if (part === null) return undefined;
    let open = this.#open.get(part.stream);
    if (open === undefined) {
      if (part.isLast) return undefined;
      const [before, after] = [buf.subarray(from, part.from), buf.subarray(part.to, to)];
      open = { before: Buffer.from(before), after: Buffer.from(after), parts: [], bytes: 0 };
      this.#open.set(part.stream, open);
    }
    open.parts.push(Buffer.from(buf.subarray(part.from, part.to)));
    open.bytes += part.to - part.from;
    if (part.isLast) this.#open.delete(part.stream);
    else if (open.bytes > MAX_JOINED_BYTES) this.longLines += 1;
    else return null;
    return takeWhole(open);
  }

  #decoded(buf: Buffer, from: number, to: number): Buffer | undefined {
    const line = buf.toString('latin1', from, to);
    return BYTE_LIST.test(line) ? Buffer.from(`${withText(line)}\n`, 'latin1') : undefined;
  }
}
