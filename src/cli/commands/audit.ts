// `cardpoll audit`: who changed what, with the values before and after, and `undo`, which reverts a change.
import { integer, text } from '../../config/kinds.ts';
import { PAGE_SIZE_BOUNDS } from '../../domain/page.ts';
import { plainText } from '../../domain/plain-text.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { AuditBody, AuditQuery, UndoBody } from '../../resources/audit.ts';
import type { ConfigBody } from '../../resources/schedule.ts';
import { changeText, fieldsOf } from '../../terminal/reports/change-text.ts';
import { INDENT, type Style, sentenceLines } from '../../terminal/style.ts';
import { listTable, ofOne, textOf } from '../../terminal/table.ts';
import { ask, pageOptions } from '../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand } from '../command.ts';
import { CONFIRM_OPTIONS, confirmIf } from '../confirm.ts';
import { printAll, printAnswer, printPage } from '../output/print.ts';
import { PAST_TIME, pastRange } from '../past-time.ts';
import { configPlan, type DemandPlan, limitPlan, measuredTask } from './limits/demand-plan.ts';

const CHANGE_IDS = { min: 1, max: 999_999_999_999_999 } as const;

const list = defineCommand({
  name: 'list',
  summary: 'Show who changed what, newest first, with the values before and after',
  isDefault: true,
  examples: [
    'cardpoll audit --since 1h  # all changes of the last hour',
    'cardpoll audit --since 22:00 --until 02:00  # the changes of last night',
    'cardpoll audit --action concurrency  # who changed the limit, and from what',
    'cardpoll audit --object config --all  # everything that happened to configs; "config 3": to this one',
    'cardpoll audit --actor anna --since 2026-11-01 --all -o jsonl  # for programs',
  ],
  options: [
    {
      flags: '--since <time>',
      doc: 'start of the range: 2h (two hours ago), 02:00, today, yesterday, or a time',
      kind: PAST_TIME,
    },
    { flags: '--until <time>', doc: 'end of the range, exclusive', kind: PAST_TIME },
    { flags: '--actor <name>', doc: 'name of a token, local or daemon', kind: text('name') },
    {
      flags: '--action <action>',
      doc: 'an action such as concurrency.set, or a group such as config',
      kind: text('action'),
    },
    {
      flags: '--object <object>',
      doc: 'an object such as "card 4711", or all of a kind, such as card',
      kind: text('object'),
    },
    ...pageOptions(20),
  ],
  run: async (context, { options: { since, until, actor, action, object, all, page, pageSize } }) => {
    const { said, ...range } = await pastRange(context, { since, until });
    const query: AuditQuery = { ...range, actor, action, object };
    const look = {
      heading: said,
      table: auditTable,
      noun: 'changes',
      empty: Object.values(query).some((value) => value !== undefined)
        ? 'no change matches: cardpoll audit shows all'
        : 'nothing has been changed yet',
    };
    if (all === true) return printAll(context, everyChange(context, query), look);
    return printPage(context, await read(context, query, page, pageSize), look);
  },
});

const undo = defineCommand({
  name: 'undo',
  summary: 'Take a change back by its former values; asks where the change itself would ask',
  examples: [
    'cardpoll audit undo 123  # the number is in cardpoll audit, and behind a reason of cardpoll stats',
    'cardpoll audit undo 123 --dry-run  # shows the values that would be restored',
    'cardpoll audit undo 123 --yes  # for scripts',
  ],
  arguments: [
    { name: '<id>', doc: 'number of the change, from `cardpoll audit`', kind: integer(CHANGE_IDS) },
  ],
  options: CONFIRM_OPTIONS,
  run: async (context, { args: [id], options }) => {
    const { body } = await ask(context, 'checking the change', (client) => client.undo(id, true));
    if (body.state === 'planned') {
      const { isDrastic, lines } = await undoPlan(context, body);
      await confirmIf(isDrastic, context, lines, options);
    }
    const answer = await ask(context, 'undoing', (client) => client.undo(id, false));
    const { state, audit_id: made } = answer.body;
    const said = state === 'undone' ? 'is undone' : 'was undone before, and nothing has changed since';
    const back = made === null ? '' : ` (take that back: cardpoll audit undo ${made})`;
    context.io.stderr.write(plainText(`change ${id} ${said}${back}`).concat('\n'));
    return printAnswer(context, answer, ofOne(undoTable));
  },
});

/** Asks for confirmation like the command for such a change: the undo of a longer interval is a shorter one. */
async function undoPlan(context: CommandContext, body: UndoBody): Promise<DemandPlan> {
  const { undoes, action, object, actor, at } = body;
  const [before, after] = [fieldsOf(body.before), fieldsOf(body.after)];
  const lines = [
    `Undo change ${undoes}, ${action} of ${object} by ${actor} at ${at}:`,
    `  ${restoredText(body)}`,
  ];
  const drastic = (isDrastic: boolean) => ({ isDrastic, lines });
  if (action === 'concurrency.set') {
    const task = await measuredTask(context, object.split(' ')[1] as TaskType);
    const plan = await limitPlan(context, task, Number(before.max_concurrency));
    return { isDrastic: plan.isDrastic, lines: [...lines, ...plan.lines] };
  }
  if (action === 'config.update' || action === 'config.delete') {
    const id = Number(object.split(' ')[1]);
    const present =
      action === 'config.delete'
        ? null
        : (await ask(context, 'reading the polling config', (client) => client.config(id))).body;
    const plan = await configPlan(context, present, before as unknown as ConfigBody);
    const disables = before.status === 0 && after.status === 1;
    return { isDrastic: plan.isDrastic || disables, lines: [...lines, ...plan.lines] };
  }
  if (action === 'cleanup_config.update') {
    const shorter = Number(before.retention_days) < Number(after.retention_days);
    return drastic(shorter || (before.enabled === true && after.enabled === false));
  }
  // The undo of a creation deletes an object.
  return drastic(action.endsWith('.create') || (action === 'pause.end' && object === 'task_type all'));
}

const undoTable = listTable<UndoBody>((style) => [
  { header: 'CHANGE', cell: (row) => style.id(row.undoes) },
  { header: 'OBJECT', cell: (row) => style.text(row.object), least: 12 },
  { header: 'STATE', cell: (row) => style.text(row.state.replace('_', ' ')) },
  { header: 'UNDONE BY', cell: (row) => style.id(row.audit_id) },
  { header: 'RESTORED', cell: (row) => style.text(restoredText(row)), least: 20 },
]);

export const audit: CommandSpec = {
  name: 'audit',
  summary: 'Show who changed what, and take a change back (default: list)',
  examples: [
    'cardpoll audit --since 1h  # all changes of the last hour',
    'cardpoll audit --object config  # who changed the configs, and from what',
    'cardpoll audit undo 123  # take a change back; asks where the change itself would ask',
  ],
  subcommands: [list, undo],
};

function read(context: CommandContext, query: AuditQuery, page: number, pageSize: number) {
  return ask(context, 'reading the audit trail', (client) => client.audit(query, page, pageSize));
}

/**
 * Continues at the time of the last change seen, not by page numbers: later pages take longer, and new changes move them. Changes
 * of the same millisecond come twice and are dropped; if they fill a page, the next page is read.
 */
async function* everyChange(context: CommandContext, query: AuditQuery): AsyncGenerator<AuditBody[]> {
  const size = PAGE_SIZE_BOUNDS.max;
  let until = query.until;
  let page = 1;
  let seen: AuditBody | null = null;
  for (;;) {
    const { items } = (await read(context, { ...query, until }, page, size)).body;
    const last = seen;
    yield items.filter((item) => last === null || isBefore(item, last));
    seen = items.at(-1) ?? seen;
    if (items.length < size || seen === null) return;
    const next = new Date(Date.parse(seen.at) + 1).toISOString();
    page = next === until ? page + 1 : 1;
    until = next;
  }
}

function isBefore(one: AuditBody, other: AuditBody): boolean {
  return one.at < other.at || (one.at === other.at && one.id < other.id);
}

/**
 * In a table the changed values follow on separate lines: they may be long, and who, what and where must be found at a glance.
 */
function auditTable(rows: readonly AuditBody[], style: Style): string {
  if (!style.forPeople) return recordTable(rows, style);
  const [header = '', ...lines] = entryTable(rows, style).trimEnd().split('\n');
  const told = rows.flatMap((row, at) => [
    lines[at] ?? '',
    ...(changeText(row) === '' ? [] : sentenceLines(changeText(row), style, INDENT)).map((line) =>
      style.paint(line, 'dim'),
    ),
  ]);
  return textOf([header, ...told, ...lines.slice(rows.length)]);
}

const entryTable = listTable<AuditBody>((style) => [
  { header: 'AT', cell: (row) => style.time(row.at) },
  { header: 'ID', cell: (row) => style.id(row.id) },
  { header: 'WHO', cell: (row) => style.text(row.actor), least: 8 },
  { header: 'ACTION', cell: (row) => style.text(row.action), least: 17 },
  { header: 'OBJECT', cell: (row) => style.text(row.object), least: 18 },
  { header: 'ROLE', cell: (row) => style.text(row.role), drop: 2 },
  { header: 'FROM', cell: (row) => style.text(row.address), drop: 3 },
  { header: 'REQUEST', cell: (row) => style.text(row.request_id), drop: 1 },
]);

const recordTable = listTable<AuditBody>((style) => [
  { header: 'AT', cell: (row) => style.time(row.at) },
  { header: 'WHO', cell: (row) => style.text(row.actor) },
  { header: 'ROLE', cell: (row) => style.text(row.role) },
  { header: 'FROM', cell: (row) => style.text(row.address) },
  { header: 'ACTION', cell: (row) => style.text(row.action) },
  { header: 'OBJECT', cell: (row) => style.text(row.object) },
  { header: 'CHANGE', cell: (row) => style.text(changeText(row)) },
  { header: 'REQUEST', cell: (row) => style.text(row.request_id) },
  { header: 'ID', cell: (row) => style.id(row.id) },
]);

/** The values that an undo restores: the values of the change in reverse. */
function restoredText({ before, after }: Pick<UndoBody, 'before' | 'after'>): string {
  return changeText({ before: after, after: before });
}
