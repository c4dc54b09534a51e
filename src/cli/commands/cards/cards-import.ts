// `cardpoll cards import`: imports cards from a file or standard input. A file is previewed first: the cards that it would change
// are saved, and the command asks before it puts running cards over their package or writes doubtful ICCIDs. Standard input can
// be read only once, so there is no preview; the daemon stops such an import instead. Ctrl-C ends the file after the current row,
// so that the daemon can still report which cards it has kept.
import type { Answer } from '../../../api/client/client-calls.ts';
import { text } from '../../../config/kinds.ts';
import { DOUBTFUL_ICCIDS, TOO_MANY_OVER_PACKAGE } from '../../../domain/cards/card.ts';
import { plainText } from '../../../domain/plain-text.ts';
import { unselectedWords } from '../../../domain/schedule/card-counts.ts';
import { cardCount, countWords, grouped } from '../../../domain/words.ts';
import { CardpollError } from '../../../platform/errors.ts';
import { EXIT_BAD_DATA, EXIT_OK } from '../../../platform/exit-codes.ts';
import type { ImportBody, ImportQuery } from '../../../resources/cards.ts';
import { fieldList } from '../../../terminal/table.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { STANDARD_INPUT, sendLines } from '../../import-source.ts';
import { printAnswer } from '../../output/print.ts';
import { tryFirst } from './import-trial.ts';

export const importCards = defineCommand({
  name: 'import',
  summary: 'Import cards from a CSV or NDJSON file; keep good rows and list bad ones (exit code 65)',
  examples: [
    'cardpoll cards import cards.csv  # card_id, iccid, carrier_id, status, allowance_mb, vendor_id, real_name_verified',
    'cardpoll cards import cards.ndjson --dry-run  # one JSON object per line, same names; checks only',
    'cardpoll cards import export.csv --ignore-columns  # a file with further columns',
    'cardpoll cards import - < cards.csv  # from standard input: nothing is kept to undo it',
  ],
  arguments: [
    { name: '<file>', doc: 'file with one card per line; - for standard input', kind: text('path') },
  ],
  options: [
    {
      flags: '--yes',
      doc: 'do not ask before lower allowances put running cards over their package, or before ICCIDs that may be wrong',
    },
    { flags: '--dry-run', doc: 'check every row and print the result, but write nothing' },
    {
      flags: '--undo-file <path>',
      doc: 'where to store the cards as they were before (default: a file in ~/.local/state/cardpoll-imports)',
      kind: text('path'),
    },
    { flags: '--ignore-columns', doc: 'ignore columns that cardpoll does not know' },
    {
      flags: '--overwrite-verified',
      doc: 'let real_name_verified in the file overwrite what polls have found',
    },
  ],
  run: async (context, { args: [file], options }) => {
    const { dryRun = false, yes = false, ignoreColumns = false, overwriteVerified = false } = options;
    if (file === STANDARD_INPUT && options.undoFile !== undefined) {
      throw new CardpollError('usage', 'no_undo_file', 'standard input is read once: nothing is kept', {
        hint: 'import from a file, or leave --undo-file out',
      });
    }
    const query = { ignore_columns: ignoreColumns, overwrite_verified: overwriteVerified };
    const trial = dryRun || file === STANDARD_INPUT ? null : await tryFirst(context, file, options, query);
    const accepted = trial?.accepted ?? (yes ? Number.MAX_SAFE_INTEGER : 0);
    const plan = dryRun
      ? { dry_run: true }
      : { accept_over_package: accepted, refuse_doubtful: trial === null && !yes };
    const answer = await upload(context, file, { ...query, ...plan });
    // A daemon of an older version does not answer it.
    const { ignored_columns: ignored = [] } = answer.body;
    if (ignored.length > 0) context.io.stderr.write(`ignored columns: ${plainText(ignored.join(', '))}\n`);
    await printAnswer(context, answer, importFields);
    listRejected(context, answer.body);
    adviseOnCards(context, answer.body);
    if (dryRun) context.io.stderr.write('nothing was written: this was a dry run\n');
    if (trial !== null) warnOfUnkept(context, answer.body, trial.former.cards);
    printInterruption(context, answer.body, file, dryRun);
    await trial?.former.trim(file);
    return answer.body.rejected > 0 ? EXIT_BAD_DATA : EXIT_OK;
  },
});

function upload(context: CommandContext, file: string, query: ImportQuery): Promise<Answer<ImportBody>> {
  const { io } = context;
  return sendLines(
    io,
    file,
    query.dry_run === true ? 'checking' : 'sending',
    async ({ lines, format, stop }) => {
      const interrupted = io.onInterrupt();
      interrupted.addEventListener('abort', stop, { once: true });
      try {
        // The interruption ends the file, not the exchange.
        const client = await context.client(new AbortController().signal);
        if (interrupted.aborted) throw interrupted.reason;
        return await client.importCards(lines, format, query);
      } catch (error) {
        if (interrupted.aborted) throw interrupted.reason;
        // The daemon may have crashed or restarted since the first row.
        if (query.dry_run !== true && error instanceof CardpollError && error.kind === 'unavailable')
          io.stderr.write(`the rows that have arrived are kept; ${restOf(file)}\n`);
        throw inWordsOfCommand(error, file);
      }
    },
  );
}

function restOf(file: string): string {
  const again = 'run the same command again to import the rest';
  return file === STANDARD_INPUT ? again : `${again}, and keep both undo files: each has its own part`;
}

function inWordsOfCommand(error: unknown, file: string): unknown {
  if (!(error instanceof CardpollError)) return error;
  if (error.code === DOUBTFUL_ICCIDS) {
    return new CardpollError('usage', 'iccids_unconfirmed', error.message, {
      cause: error,
      hint: 'accept them with --yes, or import from a file: then all of them are counted, and you are asked first',
    });
  }
  if (error.code !== TOO_MANY_OVER_PACKAGE) return error;
  // The preview of the file counted fewer cards and the operator confirmed that number; polls have found more since.
  if (file !== STANDARD_INPUT) {
    return new CardpollError('conflict', 'over_package_since_confirmed', error.message, {
      cause: error,
      hint: 'cards have used more since they were counted: run the command again, which counts and asks again',
    });
  }
  return new CardpollError('usage', 'over_package_unconfirmed', error.message, {
    cause: error,
    hint: 'accept it with --yes, or import from a file: then you are asked first, and can undo the import',
  });
}

/** Warns that another import, or a change in the database, came between the preview and the import. */
function warnOfUnkept({ io }: CommandContext, { updated }: ImportBody, kept: number): void {
  if (updated <= kept) return;
  io.stderr.write(
    `${cardCount(updated)} were updated but only ${countWords(kept, 'was', 'were')} kept: other changes came between; the file does not take all of this import back\n`,
  );
}

function printInterruption(
  { io }: CommandContext,
  { received }: ImportBody,
  file: string,
  dryRun: boolean,
): void {
  const interrupted = io.onInterrupt();
  if (!interrupted.aborted) return;
  const done = dryRun ? 'were checked' : `are kept, as shown; ${restOf(file)}`;
  io.stderr.write(`interrupted: the first ${grouped(received)} rows ${done}\n`);
  throw interrupted.reason;
}

const importFields = fieldList<ImportBody>((body, style) => {
  const names = ['received', 'inserted', 'updated', 'unchanged', 'rejected'] as const;
  const over = body.over_package ?? 0;
  return [
    ...names.map((name) => [name, style.number(body[name])] as const),
    ...(over > 0 ? [['over package', style.number(over)] as const] : []),
    ...(body.rounded_iccids > 0
      ? [['ICCIDs that end in zeros', style.number(body.rounded_iccids)] as const]
      : []),
    ...(body.twin_iccids > 0 ? [['ICCIDs of other cards', style.number(body.twin_iccids)] as const] : []),
  ];
});

/** Names cards that need an operator: not polled, or stopped although within their package. An older daemon does not count them. */
function adviseOnCards({ io }: CommandContext, body: Partial<ImportBody>): void {
  const { stopped_within: within = 0, unselected = [] } = body;
  for (const { task_type: taskType, carrier_id: carrierId, cards } of unselected) {
    io.stderr.write(`${unselectedWords(taskType, [{ carrierId, cards }])} (\`cardpoll configs\`)\n`);
  }
  if (within === 0) return;
  const [are, their] =
    within === 1 ? ['is stopped and fits its', 'it'] : ['are stopped and fit their', 'them'];
  io.stderr.write(
    `${grouped(within)} of these cards ${are} new package: \`cardpoll stops resume --within --reason "..."\` resumes ${their}\n`,
  );
}

/** Rejected rows are errors of the file, not the result, so they go to stderr. */
function listRejected(
  { io, format }: CommandContext,
  { rejected, errors, errors_truncated: more }: ImportBody,
): void {
  if (rejected === 0 || format !== 'table') return;
  const lines = errors.map(({ line, message }) => `line ${line}: ${plainText(message)}`);
  if (more) lines.push(`and ${rejected - errors.length} more`);
  io.stderr.write(`${lines.join('\n')}\n`);
}
