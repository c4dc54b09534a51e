// Stores any number of hits in little memory, and returns them in time order: sorted runs in temporary files, merged on
// reading. Each scanned file has a writer (find-hits.ts); search.ts reads all runs, and removes the directory.
import { closeSync, lstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { INTERFACE_NAMES } from '../../domain/gateway-interface.ts';
import { namesIn } from '../../platform/directory.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { compareHits, type Hit, type HitOrder } from '../model.ts';

/** Size at which a run in memory is written to its file. */
const RUN_BYTES = 4 * 1024 * 1024;
/** Memory of a hit in addition to its line. */
const HIT_BYTES = 200;
const READ_BYTES = 65_536;
const MAX_OPEN_RUNS = 64;
const HEADER_BYTES = 26;
const DIRECTORY = 'cardpoll-logs-';
const LEFT_OVER_MS = 86_400_000;

/** Creates the directory for the runs of one search. @throws CardpollError `io`, like all functions of this file. */
export function makeRunDirectory(): string {
  const parent = tmpdir();
  return orFail(parent, () => {
    removeLeftOvers(parent);
    return mkdtempSync(join(parent, DIRECTORY));
  });
}

/** A search that is killed leaves its directory behind. */
function removeLeftOvers(parent: string): void {
  for (const name of namesIn(parent)) {
    const path = join(parent, name);
    const stat = name.startsWith(DIRECTORY) ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    // Only entries that no other user can change meanwhile: a link could lead anywhere.
    const isOwn = stat?.isDirectory() === true && stat.uid === process.getuid?.();
    if (isOwn && Date.now() - stat.mtimeMs > LEFT_OVER_MS) rmSync(path, { recursive: true, force: true });
  }
}

export class RunWriter {
  readonly paths: string[] = [];
  #hits: Hit[] = [];
  #bytes = 0;

  /** @param prefix beginning of the paths of the runs; unique to this writer. */
  constructor(private readonly prefix: string) {}

  add(hit: Hit): void {
    this.#hits.push(hit);
    this.#bytes += hit.line.length + HIT_BYTES;
    if (this.#bytes > RUN_BYTES) this.flush();
  }

  flush(): void {
    if (this.#hits.length === 0) return;
    const path = `${this.prefix}-${this.paths.length}`;
    orFail(dirname(path), () => writeRun(path, this.#hits.sort(compareHits)));
    this.paths.push(path);
    this.#hits = [];
    this.#bytes = 0;
  }

  /** Drops all hits and removes their files. */
  discard(): void {
    for (const path of this.paths.splice(0)) rmSync(path, { force: true });
    this.#hits = [];
    this.#bytes = 0;
  }
}

/** The hits of all runs in time order; can be read several times. */
export class HitRuns {
  #runs: readonly string[];
  #merges = 0;

  /** @param directory for intermediate runs. Runs that are merged into one of these are removed. */
  constructor(
    paths: readonly string[],
    private readonly directory: string,
  ) {
    this.#runs = paths;
  }

  *inOrder(): Generator<Hit> {
    try {
      while (this.#runs.length > MAX_OPEN_RUNS) this.#mergeSome();
      yield* mergeOpen(this.#runs);
    } catch (error) {
      throw failure(this.directory, error);
    }
  }

  #mergeSome(): void {
    const some = this.#runs.slice(0, MAX_OPEN_RUNS);
    const merged = join(this.directory, `merged-${this.#merges}`);
    this.#merges += 1;
    writeRun(merged, mergeOpen(some));
    this.#runs = [...this.#runs.slice(MAX_OPEN_RUNS), merged];
    for (const path of some) rmSync(path, { force: true });
  }
}

function orFail<T>(directory: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw failure(directory, error);
  }
}

function failure(directory: string, cause: unknown): CardpollError {
  const message = `hits cannot be kept in ${directory}: ${messageOf(cause)}`;
  const hint = 'set TMPDIR to a directory with room for all hits, or search a shorter time';
  return new CardpollError('io', 'hits_not_kept', message, { cause, hint });
}

function* mergeOpen(paths: readonly string[]): Generator<Hit> {
  const runs: RunReader[] = [];
  try {
    for (const path of paths) runs.push(new RunReader(path));
    for (;;) {
      let least: RunReader | null = null;
      for (const run of runs) {
        if (run.head !== null && (least?.head == null || compareHits(run.head, least.head) < 0)) least = run;
      }
      if (least === null) return;
      yield least.take();
    }
  } finally {
    for (const run of runs) run.close();
  }
}

function writeRun(path: string, hits: Iterable<Hit>): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    let parts: Buffer[] = [];
    let bytes = 0;
    const flush = () => {
      writeFileSync(fd, Buffer.concat(parts));
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

function encodeHeader(hit: Hit): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeDoubleLE(hit.timeMs, 0);
  header.writeDoubleLE(hit.offset, 8);
  header.writeUInt32LE(hit.file, 16);
  header.writeUInt32LE(hit.line.length, 20);
  header.writeUInt8(
    INTERFACE_NAMES.reduce((mask, name, bit) => mask | (hit.interfaces.includes(name) ? 1 << bit : 0), 0),
    24,
  );
  header.writeUInt8(hit.cut ? 1 : 0, 25);
  return header;
}

/** Reads a run from its beginning. Keeps no line in memory, because many runs are open and a line may have megabytes. */
class RunReader {
  /** The order of the next hit; null after the last one. */
  head: HitOrder | null;
  readonly #fd: number;
  #header: Buffer | null;
  #have: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#fd = openSync(path, 'r');
    this.#header = this.#read(HEADER_BYTES);
    this.head = orderOf(this.#header);
  }

  /** Returns the next hit; there must be one. */
  take(): Hit {
    const [header, order] = [this.#header, this.head];
    const line = header === null ? null : this.#read(header.readUInt32LE(20));
    if (header === null || order === null || line === null) throw new Error('a run ends too early');
    const mask = header.readUInt8(24);
    const interfaces = INTERFACE_NAMES.filter((_, bit) => (mask & (1 << bit)) !== 0);
    const cut = header.readUInt8(25) === 1;
    this.#header = this.#read(HEADER_BYTES);
    this.head = orderOf(this.#header);
    return { ...order, line, interfaces, cut };
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Null at the end of the run. */
  #read(length: number): Buffer | null {
    if (this.#have.length < length) {
      const room = Buffer.allocUnsafe(Math.max(READ_BYTES, length - this.#have.length));
      this.#have = Buffer.concat([this.#have, room.subarray(0, readSync(this.#fd, room))]);
    }
    if (this.#have.length < length) return null;
    const taken = this.#have.subarray(0, length);
    this.#have = this.#have.subarray(length);
    return taken;
  }
}

function orderOf(header: Buffer | null): HitOrder | null {
  if (header === null) return null;
  const [timeMs, offset] = [header.readDoubleLE(0), header.readDoubleLE(8)];
  return { timeMs, offset, file: header.readUInt32LE(16) };
}
