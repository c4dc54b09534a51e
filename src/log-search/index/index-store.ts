// The indexes of log files, as sidecar files in the cache directory: a line of JSON, then the blocks of the filter.
// Written by index-file.ts, queried by plan.ts. A sidecar is used only if the log file is unchanged, judged by device,
// inode, size, mtime and last bytes, and if the checksums of the sidecar are right; otherwise the file is scanned.

import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { makeDirectory, namesIn } from '../../platform/directory.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { objectIn } from '../../platform/json.ts';
import type { FoundFile } from '../model.ts';
import { FileBytes } from '../read/file-bytes.ts';
import { BLOCK_BYTES, isFilterable, maybeContains } from './card-filter.ts';

const VERSION = 2;
/** A longer header, with a very long directory name, is not read. */
const MAX_HEADER_BYTES = 8_192;
const TRAILER_BYTES = 64;

interface IndexFacts {
  /** Zone used for times without offset. */
  readonly zone: string;
  /** Earliest and latest time of all lines; null when no line has a time. */
  readonly firstMs: number | null;
  readonly lastMs: number | null;
}

interface Header extends IndexFacts {
  readonly version: number;
  readonly identity: string;
  /** Directory of the log file; rotation renames a file within its directory. */
  readonly directory: string;
  readonly filterBlocks: number;
  /** CRC-32 of all fields above, as JSON. */
  readonly crc?: number;
}

/** Identifies the content of a log file: a sidecar with another identity is not used. */
function identityOf(file: FoundFile, bytes: FileBytes): string {
  const room = Buffer.alloc(TRAILER_BYTES);
  const trailer = bytes.readAt(Math.max(0, bytes.size - TRAILER_BYTES), room).toString('hex');
  return [file.dev, file.ino, file.size, file.mtimeMs, trailer].join(':');
}

function indexDirectory(cacheDirectory: string): string {
  return join(cacheDirectory, 'log-index');
}

function sidecarPath(cacheDirectory: string, file: FoundFile): string {
  return join(indexDirectory(cacheDirectory), `${file.dev}-${file.ino}.idx`);
}

/**
 * Reads the index of a file; null when there is no valid one.
 * @param card the card to ask for; null: none.
 */
export function readIndex(cacheDirectory: string, file: FoundFile, bytes: FileBytes, card: string | null) {
  return readSidecar(sidecarPath(cacheDirectory, file), (sidecar) => {
    const header = headerIn(sidecar);
    if (header?.version !== VERSION || header.identity !== identityOf(file, bytes)) return null;
    const blockAt = (block: number) =>
      sidecar.readAt(
        sidecar.size - (header.filterBlocks - block) * BLOCK_BYTES,
        Buffer.allocUnsafe(BLOCK_BYTES),
      );
    // Then the file certainly does not contain it.
    const lacksCard =
      card !== null && isFilterable(card) && !maybeContains(card, header.filterBlocks, blockAt);
    const facts: IndexFacts = header;
    return { facts, lacksCard };
  });
}

/** Also null when the sidecar does not exist or cannot be read. */
function readSidecar<T>(path: string, read: (sidecar: FileBytes) => T): T | null {
  try {
    using sidecar = FileBytes.open(path);
    return sidecar && read(sidecar);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return null;
  }
}

/** Null when the header is damaged, or the sidecar has another length than the header says. */
function headerIn(sidecar: FileBytes): Header | null {
  const head = sidecar.readAt(0, Buffer.allocUnsafe(MAX_HEADER_BYTES));
  const newline = head.indexOf(0x0a);
  const header = parseHeader(head.toString('utf8', 0, Math.max(0, newline)));
  if (header === null) return null;
  return sidecar.size === newline + 1 + header.filterBlocks * BLOCK_BYTES ? header : null;
}

function parseHeader(text: string): Header | null {
  const { crc, ...header } = (objectIn(text) ?? {}) as unknown as Header;
  return crc32(JSON.stringify(header)) === crc ? header : null;
}

/**
 * Replaces an older sidecar atomically, so that a reader sees one or the other.
 * @throws CardpollError `config` when the directory cannot be made, `io` when the sidecar cannot be written.
 */
export function writeIndex(
  cacheDirectory: string,
  file: FoundFile,
  bytes: FileBytes,
  facts: IndexFacts,
  filter: Buffer,
): void {
  const filterBlocks = filter.length / BLOCK_BYTES;
  const header: Header = {
    version: VERSION,
    identity: identityOf(file, bytes),
    directory: dirname(file.path),
    ...facts,
    filterBlocks,
  };
  const line = JSON.stringify({ ...header, crc: crc32(JSON.stringify(header)) });
  const sidecar = Buffer.concat([Buffer.from(`${line}\n`), filter]);
  orFail(cacheDirectory, 'config', () => makeDirectory(indexDirectory(cacheDirectory)));
  orFail(cacheDirectory, 'io', () => replaceFile(sidecarPath(cacheDirectory, file), sidecar));
}

function replaceFile(path: string, content: Buffer): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, content);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function orFail<T>(cacheDirectory: string, kind: 'config' | 'io', work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const message = `indexes cannot be kept in ${indexDirectory(cacheDirectory)}: ${messageOf(cause)}`;
    const hint = 'give a writable directory with free space: --cache-dir /var/cache/cardpoll';
    throw new CardpollError(kind, 'index_not_kept', message, { cause, hint });
  }
}

/**
 * Removes the sidecars of log files that are gone from their directory, and the temporary files of killed writers.
 * @throws CardpollError `io`.
 */
export function dropStale(cacheDirectory: string): number {
  const directory = indexDirectory(cacheDirectory);
  const present = new Map<string, ReadonlySet<string>>();
  const isStale = (name: string) => {
    const header = name.endsWith('.idx') ? readSidecar(join(directory, name), headerIn) : null;
    if (header === null) return isLeftOver(join(directory, name));
    const files = present.get(header.directory) ?? sidecarNames(header.directory);
    present.set(header.directory, files);
    return !files.has(name);
  };
  return orFail(cacheDirectory, 'io', () => {
    const stale = namesIn(directory).filter(isStale);
    for (const name of stale) rmSync(join(directory, name), { force: true });
    return stale.length;
  });
}

const LEFT_OVER_MS = 3_600_000;

/** A younger file may be in use by another process that is writing it. */
function isLeftOver(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > LEFT_OVER_MS;
}

function sidecarNames(logDirectory: string): Set<string> {
  const stats = namesIn(logDirectory).map((name) =>
    statSync(join(logDirectory, name), { throwIfNoEntry: false }),
  );
  return new Set(stats.flatMap((stat) => (stat === undefined ? [] : [`${stat.dev}-${stat.ino}.idx`])));
}
