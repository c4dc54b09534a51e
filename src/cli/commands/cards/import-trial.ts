// The trial of a file before it is imported: the cards that it changes are kept as they are, and it asks before it puts
// running cards over their package. Used by cards-import.ts. The trial reads the whole file, as the import does after it.
import { resolve } from 'node:path';
import type { ImportBody, ImportQuery } from '../../../api/client/client-bodies.ts';
import { acceptedAfter } from '../../../domain/cards/card-import.ts';
import type { CommandContext } from '../../command.ts';
import { type ConfirmOptions, confirm } from '../../confirm.ts';
import { openImportSource, WholeLines } from '../../import-source.ts';
import { plainText } from '../../output/line.ts';
import { ProgressBar } from '../../output/progress-bar.ts';
import { shellWord } from '../../output/shell-word.ts';
import { cardCount } from '../../output/style.ts';
import { FormerCards } from './former-cards.ts';

interface TrialOptions extends ConfirmOptions {
  readonly undoFile?: string;
}

/**
 * Keeps the cards that the import would change, and asks if it puts running cards over their package.
 * @returns what the import may do; null: it is not wanted.
 */
export async function tryFirst(
  context: CommandContext,
  file: string,
  options: TrialOptions,
  query: ImportQuery,
): Promise<Pick<ImportQuery, 'accept_over_package'> | null> {
  const { io } = context;
  const former = new FormerCards(io, options.undoFile ?? null);
  try {
    const { over_package: over = 0 } = await preview(context, file, query, former);
    await former.close();
    const accepted = acceptedAfter(over);
    const plan = [
      `${over.toLocaleString('en-US')} running cards would be over their package of this month, and would be stopped: allowance_mb is less than they have used`,
      `The import ends before it puts more than ${accepted.toLocaleString('en-US')} over it.`,
    ];
    if (over > 0 && !(await confirm(context, plan, options))) {
      await former.discard();
      return null;
    }
    if (former.path !== null) {
      io.stderr.write(
        `${cardCount(former.cards)} ${former.cards === 1 ? 'is kept as it is' : 'are kept as they are'} in ${plainText(former.path)}\nto undo the import: ${plainText(undoCommand(context, former.path))}\n`,
      );
    }
    return { accept_over_package: accepted };
  } catch (error) {
    await former.discard();
    throw error;
  }
}

/** The path is absolute: a name that begins with a dash would be an option. The flags lead to the same daemon. */
function undoCommand({ configInputs }: CommandContext, path: string): string {
  const flags = Object.entries(configInputs.flags).flatMap(([flag, value]) =>
    value === undefined ? [] : [` ${flag} ${shellWord(value)}`],
  );
  return `cardpoll cards import ${shellWord(resolve(path))} --overwrite-verified${flags.join('')}`;
}

async function preview(
  context: CommandContext,
  file: string,
  query: ImportQuery,
  former: FormerCards,
): Promise<ImportBody> {
  const { stream, format, bytes } = await openImportSource(context.io, file);
  const bar = new ProgressBar(context.io, `checking ${plainText(file)}`, bytes);
  const lines = new WholeLines(({ bytes: sent, rows }) =>
    bar.update(sent, `${rows.toLocaleString('en-US')} rows`),
  );
  stream.once('error', (error) => lines.destroy(error));
  try {
    const client = await context.client();
    return await client.previewImport(stream.pipe(lines), format, query, (rows) => former.add(rows));
  } finally {
    bar.clear();
    stream.destroy();
  }
}
