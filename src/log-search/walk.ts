// Lists the regular files under the roots, each once: symbolic links are followed, directories and files are told apart
// by device and inode, so nested and repeated roots, links and loops do no harm. Used by plan.ts. Opens no file.
import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { CardpollError, messageOf } from '../platform/errors.ts';
import type { Notice } from './notice.ts';

export interface FoundFile {
  readonly path: string;
  readonly dev: number;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface Found {
  readonly files: readonly FoundFile[];
  readonly notices: readonly Notice[];
  /** FIFOs, sockets and devices. */
  readonly special: number;
}

const MAX_WALKS = 4;

/**
 * Lists again when a directory changed meanwhile, because a file renamed then may be missing under both names.
 * @throws CardpollError `input_missing` / `root_missing`.
 */
export function walk(roots: readonly string[]): Found {
  for (let walks = 1; ; walks += 1) {
    const walker = new Walker();
    for (const root of roots) walker.enterRoot(root);
    if (walks === MAX_WALKS || !walker.hasChanged()) return walker;
  }
}

class Walker implements Found {
  readonly files: FoundFile[] = [];
  readonly notices: Notice[] = [];
  special = 0;
  readonly #seen = new Set<string>();
  readonly #changedAt = new Map<string, number>();

  hasChanged(): boolean {
    return [...this.#changedAt].some(
      ([path, mtimeMs]) => statSync(path, { throwIfNoEntry: false })?.mtimeMs !== mtimeMs,
    );
  }

  enterRoot(root: string): void {
    try {
      this.#take(root, statSync(root));
    } catch (error) {
      if (!isMissing(error)) {
        this.#complain(root, error);
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
      this.files.push({ path, dev, ino, size, mtimeMs });
    }
  }

  #enter(directory: string, mtimeMs: number): void {
    this.#changedAt.set(directory, mtimeMs);
    let entries: Dirent[];
    try {
      entries = readdirSync(directory, { withFileTypes: true });
    } catch (error) {
      this.#complain(directory, error);
      return;
    }
    // Real files before links, so that a file is known by its own name.
    entries.sort(
      (a, b) => Number(a.isSymbolicLink()) - Number(b.isSymbolicLink()) || (a.name < b.name ? -1 : 1),
    );
    for (const entry of entries) this.#visit(join(directory, entry.name), entry.isSymbolicLink());
  }

  #visit(path: string, isLink: boolean): void {
    try {
      this.#take(path, isLink ? statSync(path) : lstatSync(path));
    } catch (error) {
      if (!isMissing(error)) this.#complain(path, error);
      else if (isLink) this.notices.push({ path, code: 'dangling_link', detail: 'links to nothing' });
      // A file that went away while its directory was read: rotated, and listed under its new name or soon again.
      else this.notices.push({ path, code: 'vanished', detail: 'gone before it was read' });
    }
  }

  #complain(path: string, error: unknown): void {
    const code = isDenied(error) ? 'denied' : 'read_error';
    this.notices.push({ path, code, detail: code === 'denied' ? 'permission denied' : messageOf(error) });
  }
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR');
}

export function isDenied(error: unknown): boolean {
  return hasCode(error, 'EACCES') || hasCode(error, 'EPERM');
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === code;
}
