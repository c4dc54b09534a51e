// Turns chunks of any size into regions of whole lines. Used by scan-file.ts, one per file and attempt. A chunk is passed on in
// place, and only a line across a border is copied. Knows no matches and no times.

/** The lines buf[from, to); the last may lack its newline. Valid only during the call. */
export interface Region {
  readonly buf: Buffer;
  readonly from: number;
  readonly to: number;
  /** Position of buf in the file's (inflated) data. */
  readonly offset: number;
  /** It is a part of a line that is too long to be kept. */
  readonly isPart: boolean;
}

export interface RegionSink {
  region(region: Region): void;
}

const NEWLINE = 0x0a;
/** A longer line is passed on in parts of this length. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;
/** Parts overlap, so that the card is whole in one of them. */
const OVERLAP_BYTES = 64;

export class WholeLines {
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Number of bytes before the present chunk. */
  #offset = 0;
  #isPart = false;

  constructor(private readonly sink: RegionSink) {}

  /** The chunk may be overwritten afterwards. */
  push(chunk: Buffer): void {
    let from = 0;
    if (this.#pendingBytes > 0) {
      const newline = chunk.indexOf(NEWLINE);
      const end = newline === -1 ? chunk.length : newline;
      this.#keep(chunk.subarray(0, end), this.#offset + end);
      if (newline !== -1) this.#endLine(this.#offset + newline);
      from = newline === -1 ? chunk.length : newline + 1;
    }
    const to = chunk.lastIndexOf(NEWLINE) + 1;
    if (to > from) this.sink.region({ buf: chunk, from, to, offset: this.#offset, isPart: false });
    this.#keep(chunk.subarray(Math.max(from, to)), this.#offset + chunk.length);
    this.#offset += chunk.length;
  }

  /** Ends the last line: the next data does not continue it. */
  endLine(): void {
    this.#endLine(this.#offset);
  }

  #endLine(end: number): void {
    this.#passPending(end);
    this.#isPart = false;
  }

  /** @param end position in the data where the bytes end. */
  #keep(bytes: Buffer, end: number): void {
    // A file truncated under its writer begins with a hole, which reads as NUL bytes before the next line.
    const part = this.#pendingBytes === 0 ? bytes.subarray(leadingNuls(bytes)) : bytes;
    if (part.length === 0) return;
    this.#pending.push(Buffer.from(part));
    this.#pendingBytes += part.length;
    if (this.#pendingBytes <= MAX_LINE_BYTES) return;
    this.#isPart = true;
    const overlap = Buffer.from(Buffer.concat(this.#pending).subarray(-OVERLAP_BYTES));
    this.#passPending(end);
    this.#pending.push(overlap);
    this.#pendingBytes = overlap.length;
  }

  /** @param end position in the data where the pending line ends. */
  #passPending(end: number): void {
    if (this.#pendingBytes === 0) return;
    const [only] = this.#pending;
    const buf = this.#pending.length === 1 && only !== undefined ? only : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.sink.region({ buf, from: 0, to: buf.length, offset: end - buf.length, isPart: this.#isPart });
  }
}

function leadingNuls(bytes: Buffer): number {
  let count = 0;
  while (count < bytes.length && bytes[count] === 0) count += 1;
  return count;
}
