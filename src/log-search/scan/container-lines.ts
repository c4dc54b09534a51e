// Puts lines together again that a container runtime or journald wrote otherwise than they were logged: parts of long lines
// (CRI tags them P, and F at the last; Docker leaves out the final newline), and messages as lists of bytes. Stands before
// line-scanner.ts; what is none of these passes as it is. What a file holds is seen at its beginning: a runtime writes a file
// of its own.

/** Where the lines go: a scanner. */
interface Lines {
  push(chunk: Buffer): boolean;
  endLine(): void;
}

/** A part of a line: buf[from, to) is its text. */
interface Part {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

/** How a runtime writes parts. */
interface Form {
  /** Where the first part that is not the last of its line may be, at or after `from`; -1: there is none. */
  next(buf: Buffer, from: number): number;
  /** The part in the line buf[from, to); null: the line is none. */
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
/** Longer lines are not joined to the end: each so many bytes of the parts are searched as a line. */
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

/** The lines with a message as a list of bytes have it as text. */
function withText(line: string): string {
  return line.replace(BYTE_LIST, (_, list: string) => {
    const bytes = Buffer.from(list.split(',').map(Number));
    return `"MESSAGE":${JSON.stringify(bytes.toString('latin1'))}`;
  });
}

/** A line whose last part has not come. */
class OpenLine {
  readonly #parts: Buffer[] = [];
  bytes = 0;

  constructor(
    /** What the first part has before its text, and behind it: its time is that of the line. */
    private readonly before: Buffer,
    private readonly after: Buffer,
  ) {}

  add(part: Buffer): void {
    this.#parts.push(Buffer.from(part));
    this.bytes += part.length;
  }

  whole(): Buffer {
    const line = Buffer.concat([this.before, ...this.#parts, this.after, Buffer.from('\n')]);
    this.#parts.length = 0;
    this.bytes = 0;
    return line;
  }
}

export class ContainerLines implements Lines {
  /** Undefined before the first data; null: nothing is put together. */
  #form: Form | null | undefined;
  #isJournal = false;
  /** A line without an end passes as it is. */
  #isEndless = false;
  /** The end of the last chunk, without a newline. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  readonly #open = new Map<string, OpenLine>();
  /** Number of lines that were too long to be joined. */
  longLines = 0;

  constructor(private readonly lines: Lines) {}

  push(chunk: Buffer): boolean {
    if (this.#form === undefined) this.#recognize(chunk);
    if (this.#form === null && !this.#isJournal) return this.lines.push(chunk);
    const to = chunk.lastIndexOf(NEWLINE) + 1;
    if (this.#isEndless && to === 0) return this.lines.push(chunk);
    let goOn = true;
    let from = 0;
    if (to > 0 && (this.#restBytes > 0 || this.#isEndless)) {
      from = chunk.indexOf(NEWLINE) + 1;
      const end = chunk.subarray(0, from);
      goOn = this.#isEndless ? this.lines.push(end) : this.#wholeLines(this.#takeRest(end));
      this.#isEndless = false;
    }
    if (from < to) goOn = this.#wholeLines(chunk.subarray(from, to)) && goOn;
    this.#keep(chunk.subarray(to));
    return goOn;
  }

  /** Ends the last line, and all that wait for parts. */
  endLine(): void {
    if (this.#restBytes > 0) this.#wholeLines(this.#takeRest(Buffer.from('\n')));
    for (const open of this.#open.values()) this.lines.push(open.whole());
    this.#open.clear();
    this.lines.endLine();
  }

  #recognize(chunk: Buffer): void {
    const head = chunk.subarray(0, HEAD_BYTES);
    this.#isJournal = head.includes(JOURNAL);
    if (head.indexOf(DOCKER_START) !== -1 && head.includes(DOCKER_END)) this.#form = DOCKER_FORM;
    else this.#form = CRI_FILE.test(head.toString('latin1')) ? CRI_FORM : null;
  }

  #takeRest(end: Buffer): Buffer {
    const whole = Buffer.concat([...this.#rest, end]);
    this.#rest = [];
    this.#restBytes = 0;
    return whole;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#rest.push(Buffer.from(bytes));
    this.#restBytes += bytes.length;
    if (this.#restBytes <= 2 * MAX_JOINED_BYTES) return;
    this.lines.push(this.#takeRest(Buffer.alloc(0)));
    this.#isEndless = true;
  }

  /** Passes on what needs no change in as few pieces as possible. */
  #wholeLines(buf: Buffer): boolean {
    let passed = 0;
    let goOn = true;
    const pass = (to: number, line?: Buffer) => {
      if (to > passed) goOn = this.lines.push(buf.subarray(passed, to)) && goOn;
      if (line !== undefined) goOn = this.lines.push(line) && goOn;
    };
    for (let from = this.#nextChange(buf, 0); from < buf.length; from = this.#nextChange(buf, from)) {
      const newline = buf.indexOf(NEWLINE, from);
      const to = newline === -1 ? buf.length : newline;
      const changed = this.#changed(buf, from, to);
      if (changed !== undefined) {
        pass(from, changed ?? undefined);
        passed = to + 1;
      }
      from = to + 1;
    }
    pass(buf.length);
    return goOn;
  }

  /** The first line at or after the line `from` that may have to be changed. */
  #nextChange(buf: Buffer, from: number): number {
    if (this.#isJournal || !this.#form || this.#open.size > 0 || from >= buf.length) return from;
    const at = this.#form.next(buf, from);
    return at === -1 ? buf.length : Math.max(from, buf.lastIndexOf(NEWLINE, at) + 1);
  }

  /** The line to search instead of buf[from, to); null: a later one; undefined: the line itself. */
  #changed(buf: Buffer, from: number, to: number): Buffer | null | undefined {
    if (this.#isJournal) return this.#decoded(buf, from, to);
    const part = this.#form?.read(buf, from, to) ?? null;
    if (part === null) return undefined;
    let open = this.#open.get(part.stream);
    if (open === undefined) {
      if (part.isLast) return undefined;
      open = new OpenLine(Buffer.from(buf.subarray(from, part.from)), Buffer.from(buf.subarray(part.to, to)));
      this.#open.set(part.stream, open);
    }
    open.add(buf.subarray(part.from, part.to));
    if (part.isLast) this.#open.delete(part.stream);
    else if (open.bytes > MAX_JOINED_BYTES) this.longLines += 1;
    else return null;
    return open.whole();
  }

  #decoded(buf: Buffer, from: number, to: number): Buffer | undefined {
    const line = buf.toString('latin1', from, to);
    return BYTE_LIST.test(line) ? Buffer.from(`${withText(line)}\n`, 'latin1') : undefined;
  }
}
