// Keeps any number of hits in little memory, and gives them back in time order: sorted runs in temporary files, merged
// when read. One writer a scanned file (file-hits.ts); search.ts merges the runs of all. Who owns the directory
// removes it.
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { compareHits, type Hit } from './hit.ts';
import { INTERFACES } from './interface-alias.ts';

/** A run in memory is written out beyond this. */
const RUN_BYTES = 4 * 1024 * 1024;
/** What a hit costs besides its line. */
const HIT_BYTES = 200;
const READ_BYTES = 65_536;
const MAX_OPEN_RUNS = 64;
const HEADER_BYTES = 26;

export class RunWriter {
  readonly paths: string[] = [];
  #hits: Hit[] = [];
  #bytes = 0;

  /** @param prefix path the runs' names begin with; unique to this writer. */
  constructor(private readonly prefix: string) {}

  add(hit: Hit): void {
    this.#hits.push(hit);
    this.#bytes += hit.line.length + HIT_BYTES;
    if (this.#bytes > RUN_BYTES) this.flush();
  }

  flush(): void {
    if (this.#hits.length === 0) return;
    const path = `${this.prefix}-${this.paths.length}`;
    writeRun(path, this.#hits.sort(compareHits));
    this.paths.push(path);
    this.#hits = [];
    this.#bytes = 0;
  }

  /** Forgets everything. */
  discard(): void {
    for (const path of this.paths) rmSync(path, { force: true });
    this.#hits = [];
  }
}

/** The hits of all runs in time order. @param directory for runs made in between. */
export function* mergeRuns(paths: readonly string[], directory: string): Generator<Hit> {
  let runs = [...paths];
  for (let round = 0; runs.length > MAX_OPEN_RUNS; round += 1) {
    const merged = join(directory, `merged-${round}`);
    writeRun(merged, mergeOpen(runs.slice(0, MAX_OPEN_RUNS)));
    for (const path of runs.slice(0, MAX_OPEN_RUNS)) rmSync(path, { force: true });
    runs = [...runs.slice(MAX_OPEN_RUNS), merged];
  }
  yield* mergeOpen(runs);
}

function* mergeOpen(paths: readonly string[]): Generator<Hit> {
  const sources = paths.map((path) => readRun(path));
  try {
    const heads = sources.map((source) => source.next());
    for (;;) {
      let least: Hit | null = null;
      let from = -1;
      heads.forEach((head, index) => {
        if (head.done !== true && (least === null || compareHits(head.value, least) < 0)) {
          least = head.value;
          from = index;
        }
      });
      if (least === null) return;
      yield least;
      const source = sources[from];
      if (source !== undefined) heads[from] = source.next();
    }
  } finally {
    for (const source of sources) source.return(undefined);
  }
}

function writeRun(path: string, hits: Iterable<Hit>): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    let parts: Buffer[] = [];
    let bytes = 0;
    const flush = () => {
      writeWhole(fd, Buffer.concat(parts));
      parts = [];
      bytes = 0;
    };
    for (const hit of hits) {
      parts.push(encodeHeader(hit), hit.line);
      bytes += HEADER_BYTES + hit.line.length;
      if (bytes > READ_BYTES) flush();
    }
    flush();
  } finally {
    closeSync(fd);
  }
}

function writeWhole(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
}

function encodeHeader(hit: Hit): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeDoubleLE(hit.timeMs, 0);
  header.writeDoubleLE(hit.offset, 8);
  header.writeUInt32LE(hit.file, 16);
  header.writeUInt32LE(hit.line.length, 20);
  header.writeUInt8(
    INTERFACES.reduce((mask, name, bit) => mask | (hit.interfaces.includes(name) ? 1 << bit : 0), 0),
    24,
  );
  header.writeUInt8(hit.cut ? 1 : 0, 25);
  return header;
}

function decodeHeader(header: Buffer, line: Buffer): Hit {
  const mask = header.readUInt8(24);
  return {
    timeMs: header.readDoubleLE(0),
    offset: header.readDoubleLE(8),
    file: header.readUInt32LE(16),
    line,
    interfaces: INTERFACES.filter((_, bit) => (mask & (1 << bit)) !== 0),
    cut: header.readUInt8(25) === 1,
  };
}

function* readRun(path: string): Generator<Hit> {
  const fd = openSync(path, 'r');
  try {
    let have: Buffer = Buffer.alloc(0);
    const take = (length: number): Buffer | null => {
      if (have.length < length) {
        const room = Buffer.allocUnsafe(Math.max(READ_BYTES, length - have.length));
        have = Buffer.concat([have, room.subarray(0, readSync(fd, room))]);
      }
      if (have.length < length) return null;
      const taken = have.subarray(0, length);
      have = have.subarray(length);
      return taken;
    };
    for (let header = take(HEADER_BYTES); header !== null; header = take(HEADER_BYTES)) {
      const line = take(header.readUInt32LE(20));
      if (line === null) return;
      yield decodeHeader(header, line);
    }
  } finally {
    closeSync(fd);
  }
}
