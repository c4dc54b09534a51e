// The file with the cards as they were before an import: importing it takes the import back. Used by import-trial.ts. Lines
// are written as they arrive, and the file is on the disk before the import begins. Without --undo-file the newest
// twenty files are kept.
import { randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { stateHome } from '../../../config/load-config.ts';
import { CardpollError, messageOf } from '../../../platform/errors.ts';
import type { Io } from '../../command.ts';

const KEPT_FILES = 20;
const OWN_NAME = /^before-[\dTZa-f-]+\.csv$/;

/** A row of an import; its names are the columns. */
type FormerCard = Readonly<Record<string, unknown>>;

export class FormerCards {
  #file: FileHandle | null = null;
  #path: string | null;
  #cards = 0;

  /** @param path null: a file of its own in the state directory of the user. */
  constructor(
    private readonly io: Pick<Io, 'env' | 'clock'>,
    path: string | null,
  ) {
    this.#path = path;
  }

  get cards(): number {
    return this.#cards;
  }

  /** The file; null while there is no card. */
  get path(): string | null {
    return this.#file === null ? null : this.#path;
  }

  /** @throws CardpollError kind `io`, also for a file that exists. */
  async add(rows: readonly FormerCard[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    await this.#trying(async () => {
      this.#file ??= await this.#create(Object.keys(first));
      await this.#file.write(rows.map((row) => lineOf(Object.values(row))).join(''));
    });
    this.#cards += rows.length;
  }

  /** The file is on the disk, whatever happens to the machine. */
  async close(): Promise<void> {
    await this.#trying(async () => {
      await this.#file?.sync();
      await this.#file?.close();
    });
  }

  /** Call when nothing was imported. */
  async discard(): Promise<void> {
    if (this.#file === null || this.#path === null) return;
    await this.#file.close().catch(() => {});
    await unlink(this.#path).catch(() => {});
    this.#file = null;
  }

  async #create(columns: readonly string[]): Promise<FileHandle> {
    this.#path ??= await this.#ownPath();
    const file = await open(this.#path, 'wx', 0o600);
    await file.write(lineOf(columns));
    return file;
  }

  async #ownPath(): Promise<string> {
    const directory = join(stateHome(this.io.env), 'cardpoll-imports');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const files = (await readdir(directory)).filter((name) => OWN_NAME.test(name)).sort();
    for (const name of files.slice(0, Math.max(0, files.length - KEPT_FILES + 1)))
      await unlink(join(directory, name)).catch(() => {});
    const now = new Date(this.io.clock.now()).toISOString().replaceAll(/[:.]/g, '-');
    return join(directory, `before-${now}-${randomBytes(3).toString('hex')}.csv`);
  }

  async #trying(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      throw new CardpollError(
        'io',
        'undo_file_unwritable',
        `cannot keep the cards as they are before the import: ${messageOf(error)}`,
        { cause: error, hint: 'Nothing was imported. --undo-file names another file.' },
      );
    }
  }
}

/** Digits, numbers, true and false need no quotes. */
function lineOf(values: readonly unknown[]): string {
  return `${values.map((value) => value ?? '').join(',')}\n`;
}
