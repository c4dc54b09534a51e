// `cardpoll audit`: who changed what, with the values before and after.
import { isDeepStrictEqual } from 'node:util';
import type { AuditBody } from '../../api/client/client-bodies.ts';
import { text } from '../../config/kinds.ts';
import { roundedMb } from '../../domain/numbers.ts';
import { PAGE_SIZE_BOUNDS } from '../../domain/page.ts';
import { ask, pageOptions } from '../ask.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import { printAll, printPage, valueText } from '../output/print.ts';
import { listTable } from '../output/table.ts';
import { PAST_TIME, pastRange } from '../past-time.ts';

type AuditQuery = Partial<Record<'since' | 'until' | 'actor' | 'action' | 'object', string | undefined>>;

export const audit = defineCommand({
  name: 'audit',
  summary: 'Show who changed what, newest first, with the values before and after',
  examples: [
    'cardpoll audit --since 1h  # all changes of the last hour',
    'cardpoll audit --since 22:00 --until 02:00  # the changes of last night',
    'cardpoll audit --action concurrency  # who changed the limit, and from what',
    'cardpoll audit --object "card 4711" --all  # everything that happened to a card',
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

function read(context: CommandContext, query: AuditQuery, page: number, pageSize: number) {
  return ask(context, 'reading the audit trail', (client) => client.audit(query, page, pageSize));
}

/**
 * Continues at the time of the last change seen, not by page numbers: they take longer the further back they are, and
 * new changes move them. Changes of the same millisecond come twice and are dropped; if they fill a page, the next page
 * is read.
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

const auditTable = listTable<AuditBody>((style) => [
  { header: 'AT', cell: (row) => style.time(row.at) },
  { header: 'WHO', cell: (row) => style.text(row.actor), least: 8 },
  { header: 'ROLE', cell: (row) => style.text(row.role), drop: 2 },
  { header: 'FROM', cell: (row) => style.text(row.address), drop: 3 },
  { header: 'ACTION', cell: (row) => style.text(row.action), least: 17, drop: 4 },
  { header: 'OBJECT', cell: (row) => style.text(row.object), least: 18, drop: 5 },
  { header: 'CHANGE', cell: (row) => style.text(changeText(row)), least: 28 },
  { header: 'REQUEST', cell: (row) => style.text(row.request_id), drop: 1 },
]);

/** `max_concurrency 100 -> 150`: the fields that differ, or all fields of a created or deleted object. */
function changeText({ before, after }: Pick<AuditBody, 'before' | 'after'>): string {
  const [from, to] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return names
    .filter((name) => !isDeepStrictEqual(from[name], to[name]))
    .map((name) => {
      const [was, is] = [from[name], to[name]].map((value) => fieldText(name, value));
      if (!(name in from)) return `${name} ${is}`;
      if (!(name in to)) return `was ${name} ${was}`;
      return `${name} ${was} -> ${is}`;
    })
    .join(', ');
}

function fieldText(name: string, value: unknown): string {
  return valueText(typeof value === 'number' && name.endsWith('_mb') ? roundedMb(value) : value);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
