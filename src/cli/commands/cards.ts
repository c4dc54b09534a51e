// `cardpoll cards`: bring cards in from a file, look at one.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Transform } from 'node:stream';
import type { CardBody, ImportBody } from '../../api/client.ts';
import { text } from '../../config/kinds.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { ask } from '../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand } from '../command.ts';
import { EXIT_BAD_DATA, EXIT_OK } from '../exit-codes.ts';
import { printAnswer } from '../output/print.ts';
import { ProgressBar } from '../output/progress-bar.ts';
import type { Cell, Style } from '../output/style.ts';
import { renderFields } from '../output/table.ts';
import { CARD_ARGUMENT, explainCard } from './explain.ts';

const EXAMPLES = [
  ['cardpoll cards import cards.csv', 'CSV or NDJSON; may be repeated'],
  ['cardpoll cards show 89860012345678901234', 'by iccid'],
  ['cardpoll cards show 42 -o json', 'by card id'],
] as const;

const importCards = defineCommand<[string], unknown>({
  name: 'import',
  summary: 'Import cards from a CSV or NDJSON file; good rows are kept, bad ones listed (then exit code 65)',
  examples: [
    ['cardpoll cards import cards.csv', 'card_id,iccid,carrier_id,status,allowance_mb,real_name_verified'],
    ['cardpoll cards import cards.ndjson', 'one JSON object a line, same names'],
    ['cardpoll cards import cards.csv -o json', 'the result for programs'],
  ],
  arguments: [{ name: '<file>', doc: 'file with one card a line', kind: text('path') }],
  run: async (context, { args: [file] }) => {
    const { bytes, format } = await inspect(file);
    const answer = await upload(context, file, bytes, format);
    await printAnswer(context, answer, importFields);
    listRejected(context, answer.body);
    return answer.body.rejected > 0 ? EXIT_BAD_DATA : EXIT_OK;
  },
});

/** Tells the format by the first character: a JSON object begins with a brace, a CSV header does not. */
async function inspect(file: string): Promise<{ bytes: number; format: 'csv' | 'ndjson' }> {
  try {
    await using handle = await open(file, 'r');
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1_024), 0, 1_024, 0);
    const start = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/, '')
      .trimStart();
    return { bytes: size, format: start.startsWith('{') ? 'ndjson' : 'csv' };
  } catch (error) {
    throw new CardpollError('input_missing', 'file_unreadable', `cannot read ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

function upload(context: CommandContext, file: string, bytes: number, format: 'csv' | 'ndjson') {
  const bar = new ProgressBar(context.io, `sending ${file}`, bytes);
  let sent = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      sent += chunk.length;
      bar.update(sent);
      done(null, chunk);
    },
    flush(done) {
      bar.clear();
      done();
    },
  });
  const source = createReadStream(file).on('error', (error) => counted.destroy(error));
  return ask(context, 'importing', (client) =>
    client.importCards(source.pipe(counted), format, bytes),
  ).finally(() => {
    bar.clear();
    source.destroy();
  });
}

function importFields(body: ImportBody, style: Style): string {
  const names = ['received', 'inserted', 'updated', 'unchanged', 'rejected'] as const;
  return renderFields(
    names.map((name) => [name, style.number(body[name])] as const),
    style,
  );
}

/** Rejected rows are not the result but what is wrong with the file, so they go to stderr. */
function listRejected(
  { io, format }: CommandContext,
  { rejected, errors, errors_truncated: more }: ImportBody,
): void {
  if (rejected === 0 || format !== 'table') return;
  const lines = errors.map(({ line, message }) => `line ${line}: ${message}`);
  if (more) lines.push(`and ${rejected - errors.length} more`);
  io.stderr.write(`${lines.join('\n')}\n`);
}

const show = defineCommand<[string], { readonly verbose?: boolean }>({
  name: 'show',
  summary: 'Show a card: what is known, when it was polled and when it is next',
  examples: EXAMPLES,
  arguments: [CARD_ARGUMENT],
  options: [{ flags: '-v, --verbose', doc: 'tell why it is or is not polled, as explain does' }],
  run: async (context, { args: [card], options }) => {
    if (options.verbose === true) return explainCard(context, card);
    const answer = await ask(context, 'reading the card', (client) => client.card(card));
    await printAnswer(context, answer, cardFields);
    return 0;
  },
});

function cardFields(card: CardBody, style: Style): string {
  const times = TASK_TYPES.flatMap((taskType): [string, Cell][] => [
    [`${taskType} polled`, style.time(card.last_polled_at[taskType])],
    [`${taskType} next`, style.time(card.next_due_at[taskType])],
  ]);
  const allowance =
    card.allowance_mb === null ? style.text('unlimited') : style.text(`${card.allowance_mb} MB`);
  return renderFields(
    [
      ['card id', style.text(card.card_id)],
      ['iccid', style.text(card.iccid)],
      ['carrier', style.text(card.carrier_id)],
      ['status', style.text(card.status)],
      ['real name verified', style.yesNo(card.real_name_verified)],
      ['stopped', card.stopped ? style.text('yes', 'yellow') : style.yesNo(false)],
      ['allowance', allowance],
      [`used ${card.usage_month}`, style.text(`${card.used_mb_month} MB`)],
      ...times,
    ],
    style,
  );
}

export const cards: CommandSpec = {
  name: 'cards',
  summary: 'Import cards and look at one',
  examples: EXAMPLES,
  subcommands: [importCards, show],
};
