// Lists the regular files under the roots, each once: symbolic links are followed; directories and files are identified by device
// and inode, so nested and repeated roots, links and loops are harmless. Used by all searches before plan.ts. Opens the files, so
// that one that is renamed, compressed or removed during the search is still read.
import { createHash } from 'node:crypto';
import { closeSync, type Dirent, lstatSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { FoundFile, Notice } from '../model.ts';
import { FileBytes, isDenied, isMissing } from '../read/file-bytes.ts';

const MAX_WALKS = 20;
/** A directory may change for this long without a new mtime: clocks and file systems are coarse. */
const SETTLED_MS = 2_000;
/** The usual maximum number of open files of a process. */
const USUAL_LIMIT = 1_024;

/**
 * Lists again while a directory changes, because a file that is renamed meanwhile may be missing under both names. Ends
 * when two listings are the same.
 * @throws CardpollError `input_missing` / `root_missing`.
 */
export function walk(roots: readonly string[]): Listing {
  let listing = new Listing(roots);
  for (let walks = 2; !listing.isSettled(); walks += 1) {
    const before = listing.fingerprint;
    listing[Symbol.dispose]();
    listing = new Listing(roots);
    if (listing.fingerprint === before) break;
    if (walks === MAX_WALKS) {
      const detail = 'its files kept changing while they were listed';
      listing.notices.push({ path: roots.join(':'), code: 'vanished', detail });
      break;
    }
  }
  return listing;
}

/** Its disposal closes the files. */
export class Listing implements Disposable {
  readonly files: FoundFile[] = [];
  readonly notices: Notice[] = [];
  /** Number of FIFOs, sockets and devices. */
  special = 0;
  readonly #seen = new Set<string>();
  readonly #changedAt = new Map<string, number>();
  readonly #beganMs = Date.now();
  readonly #maxOpen = maxOpenFiles();

  constructor(roots: readonly string[]) {
    try {
      for (const root of roots) this.#enterRoot(root);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const { fd } of this.files) if (fd !== null) closeSync(fd);
  }

  /** Whether no directory changed while it was read, judged by its mtime. */
  isSettled(): boolean {
    return [...this.#changedAt].every(
      ([path, mtimeMs]) =>
        mtimeMs < this.#beganMs - SETTLED_MS &&
        statSync(path, { throwIfNoEntry: false })?.mtimeMs === mtimeMs,
    );
  }

  /** A hash, because the paths of millions of files exceed the maximum length of a string. */
  get fingerprint(): string {
    const hash = createHash('sha256');
    for (const { path, dev, ino } of this.files) hash.update(JSON.stringify([path, dev, ino]));
    return hash.update(JSON.stringify(this.notices)).digest('hex');
  }

  #enterRoot(root: string): void {
    try {
      const stat = statSync(root);
      this.#take(root, stat);
      if (!stat.isDirectory() && !stat.isFile())
        this.notices.push({ path: root, code: 'not_searched', detail: 'it is no directory and no file' });
    } catch (error) {
      if (!isMissing(error)) {
        this.#report(root, error);
        return;
      }
      throw new CardpollError('input_missing', 'root_missing', `log directory ${root} does not exist`, {
        hint: 'type --roots /var/log/cardpoll:/mnt/other/logs with directories that exist',
      });
    }
  }

  #take(path: string, stat: Stats): void {
    const key = `${stat.dev}:${stat.ino}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    if (stat.isDirectory()) this.#enter(path, stat.mtimeMs);
    else if (!stat.isFile()) this.special += 1;
    else {
      const { dev, ino, size, mtimeMs } = stat;
      this.files.push({ path, dev, ino, fd: this.#open(path, stat), size, mtimeMs });
    }
  }

  /** Null when it cannot be opened: the scan tries again, and reports the reason. */
  #open(path: string, stat: Stats): number | null {
    if (this.files.length >= this.#maxOpen) return null;
    try {
      return FileBytes.open(path, stat)?.fd ?? null;
    } catch {
      return null;
    }
  }

  #enter(directory: string, mtimeMs: number): void {
    this.#changedAt.set(directory, mtimeMs);
    let entries: Dirent[];
    try {
      entries = readdirSync(directory, { withFileTypes: true });
    } catch (error) {
      this.#report(directory, error);
      return;
    }
    // Real files before links, so that a file is listed under its own name.
    entries.sort(
      (a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()) || (a.name < b.name ? -1 : 1),
    );
    for (const entry of entries) this.#visit(join(directory, entry.name), entry.isSymbolicLink());
  }

  #visit(path: string, isLink: boolean): void {
    try {
      this.#take(path, isLink ? statSync(path) : lstatSync(path));
    } catch (error) {
      if (!isMissing(error)) this.#report(path, error);
      else if (isLink) this.notices.push({ path, code: 'dangling_link', detail: 'links to nothing' });
      // The file disappeared while its directory was read: it was rotated, and is listed under its new name or next time.
      else this.notices.push({ path, code: 'vanished', detail: 'gone before it was read' });
    }
  }

  #report(path: string, error: unknown): void {
    const code = isDenied(error) ? 'denied' : 'read_error';
    this.notices.push({ path, code, detail: code === 'denied' ? 'permission denied' : messageOf(error) });
  }
}

/** Half of the process's limit; the rest is for its other work. */
function maxOpenFiles(): number {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return Number(limit ?? USUAL_LIMIT) / 2;
  } catch {
    return USUAL_LIMIT / 2;
  }
}
