// The preview of a file before its import: saves the cards that the file would change, and asks before the import puts running
// cards over their package or writes doubtful ICCIDs. Used by cards-import.ts. The preview reads the whole file, as the import
// does after it.
import { randomBytes } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { stateHome } from '../../../config/load-config.ts';
import { acceptedAfter, areDoubtful } from '../../../domain/cards/card.ts';
import { csvLine } from '../../../domain/cards/csv-line.ts';
import { plainText } from '../../../domain/plain-text.ts';
import { cardCount, grouped } from '../../../domain/words.ts';
import { CardpollError, messageOf } from '../../../platform/errors.ts';
import { shellWord } from '../../../platform/shell-word.ts';
import type { ImportBody, ImportQuery } from '../../../resources/cards.ts';
import type { CommandContext, Io } from '../../command.ts';
import { type ConfirmOptions, confirm } from '../../confirm.ts';
import { sendLines } from '../../import-source.ts';

/** Further lines add no information. */
const SHOWN_DOUBTS = 5;

interface TrialOptions extends ConfirmOptions {
  readonly undoFile?: string;
}

/**
 * Saves the cards that the import would change, and asks if it puts running cards over their package or writes doubtful ICCIDs.
 * @returns how many cards it may put over their package, and the saved cards.
 */
export async function tryFirst(
  context: CommandContext,
  file: string,
  options: TrialOptions,
  query: ImportQuery,
) {
  const { io } = context;
  await refusePipe(file);
  const former = new FormerCards(io, options.undoFile ?? null);
  try {
    const report = await sendLines(io, file, 'checking', async ({ lines, format }) => {
      const client = await context.client();
      return client.previewImport(lines, format, query, (rows) => former.add(rows));
    });
    await former.close();
    const { over_package: over = 0, inserted } = report;
    const accepted = acceptedAfter(over);
    const plan = [...doubtsOf(report), ...(over > 0 ? overPackagePlan(over, accepted) : [])];
    if (plan.length > 0) await confirm(context, plan, options);
    if (former.path !== null) {
      const daemon = await flagsToDaemon(context);
      const since = new Date(io.clock.now()).toISOString();
      const lines = [
        `${cardCount(former.cards, ['is kept as it is', 'are kept as they are'])} in ${former.path}`,
        // The path is absolute, because a name that begins with a dash would be read as an option.
        `to undo the import: cardpoll cards import ${shellWord(resolve(former.path))} --overwrite-verified${daemon}`,
        'it also undoes later changes of these cards',
        ...(inserted > 0 ? [`it does not remove new cards: the import adds ${cardCount(inserted)}`] : []),
        ...(over > 0
          ? [
              `it does not resume cards: cardpoll stops resume --since ${since} --reason 'import undone'${daemon}`,
            ]
          : []),
      ];
      io.stderr.write(`${lines.map(plainText).join('\n')}\n`);
    }
    return { accepted, former };
  } catch (error) {
    await former.discard();
    throw error;
  }
}

function overPackagePlan(over: number, accepted: number): string[] {
  return [
    `${grouped(over)} running cards would be over their package of this month, and would be stopped: allowance_mb is less than they have used`,
    `It stops by itself before more than ${grouped(accepted)} cards are over their package.`,
  ];
}

/** @returns the questions about doubtful ICCIDs; empty for a daemon of an older version. */
function doubtsOf({ new_iccids: cards = 0, ...report }: Partial<ImportBody>): string[] {
  const { rounded_iccids: rounded = 0, twin_iccids: twins = 0, doubtful = [] } = report;
  if (!areDoubtful({ newIccids: cards, roundedIccids: rounded, twinIccids: twins })) return [];
  const ofAll = `of ${cardCount(cards)} that get an ICCID`;
  return [
    ...(rounded > 0
      ? [`${grouped(rounded)} ${ofAll} would get one that ends in zeros: a spreadsheet may have rounded it`]
      : []),
    ...(twins > 0
      ? [`${grouped(twins)} would get the ICCID of another card with or without its check digit`]
      : []),
    ...doubtful.slice(0, SHOWN_DOUBTS).map(({ line, message }) => `line ${line}: ${message}`),
  ];
}

/** A pipe is empty after the preview, or waits for another writer. */
async function refusePipe(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  if (found === null || found.isFile() || found.isDirectory()) return;
  throw new CardpollError(
    'usage',
    'import_not_a_file',
    `${plainText(file)} is a pipe or a device, and a file is read twice`,
    {
      hint: '`cardpoll cards import -` reads standard input once; then nothing is kept to undo the import.',
    },
  );
}

/** Flags that lead to the same daemon from any directory, with any context and variables. */
async function flagsToDaemon({ configInputs, clientConfig }: CommandContext): Promise<string> {
  const { '--config': config, '--token-file': tokenFile, ...flags } = configInputs.flags;
  const { url, contextTokenFile } = await clientConfig();
  const files = { '--config': config, '--token-file': tokenFile ?? contextTokenFile ?? undefined };
  return Object.entries({ ...flags, '--url': url, ...files })
    .filter((entry): entry is [keyof typeof files, string] => entry[1] !== undefined)
    .map(([flag, value]) => ` ${flag} ${shellWord(flag in files ? resolve(value) : value)}`)
    .join('');
}

const KEPT_FILES = 20;
const OWN_NAME = /^before-[\dTZa-f-]+\.csv$/;

/** A row of an import; its names are the columns. */
type FormerCard = Readonly<Record<string, unknown>>;

/**
 * A file with the cards in their state before an import: importing it undoes the import. Lines are written as they arrive, and
 * the file is on disk before the import begins. Without --undo-file the newest twenty files are kept.
 */
class FormerCards {
  readonly #directory: string;
  #file: FileHandle | null = null;
  #path: string | null;
  /** Number of cards in the file. */
  cards = 0;

  /** @param path null: a new file in the state directory of the user. */
  constructor(
    private readonly io: Pick<Io, 'env' | 'clock'>,
    path: string | null,
  ) {
    this.#path = path;
    this.#directory = join(stateHome(io.env), 'cardpoll-imports');
  }

  /** The file; null while it has no cards. */
  get path(): string | null {
    return this.#file === null ? null : this.#path;
  }

  /** @throws CardpollError kind `io`, also for a file that exists. */
  async add(rows: readonly FormerCard[]): Promise<void> {
    const [first] = rows;
    if (first === undefined) return;
    await this.#trying(async () => {
      this.#file ??= await this.#create(Object.keys(first));
      await this.#file.write(rows.map((row) => csvLine(Object.values(row))).join(''));
    });
    this.cards += rows.length;
  }

  /** Closes the file after an fsync, so that it survives a crash of the machine. */
  async close(): Promise<void> {
    await this.#trying(async () => {
      await this.#file?.sync();
      await this.#file?.close();
    });
  }

  /** Call this when nothing was imported. */
  async discard(): Promise<void> {
    if (this.#file === null || this.#path === null) return;
    await this.#file.close().catch(() => {});
    await unlink(this.#path).catch(() => {});
    this.#file = null;
  }

  /**
   * Removes old undo files. Call this when everything was imported: until then an old one may be needed for an undo.
   * @param file the imported file, which is kept.
   */
  async trim(file: string): Promise<void> {
    const all = await readdir(this.#directory).catch(() => []);
    const files = all.filter((name) => OWN_NAME.test(name) && name !== basename(file)).sort();
    for (const name of files.slice(0, -KEPT_FILES)) await unlink(join(this.#directory, name)).catch(() => {});
  }

  async #create(columns: readonly string[]): Promise<FileHandle> {
    this.#path ??= await this.#ownPath();
    const file = await open(this.#path, 'wx', 0o600);
    await file.write(csvLine(columns));
    return file;
  }

  async #ownPath(): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const now = new Date(this.io.clock.now()).toISOString().replaceAll(/[:.]/g, '-');
    return join(this.#directory, `before-${now}-${randomBytes(3).toString('hex')}.csv`);
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
