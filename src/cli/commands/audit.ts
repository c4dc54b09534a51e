// `cardpoll audit`: who changed what, with the values before and after.
import { text } from '../../config/kinds.ts';
import type { PageRequest } from '../../domain/page.ts';
import { ask } from '../ask.ts';
import { defineCommand } from '../command.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { printList } from '../output/print.ts';
import { auditTable } from '../output/reports/audit-table.ts';
import { pageOptions } from '../page-options.ts';
import { type PastTime, pastTime } from '../past-time.ts';

interface AuditOptions extends PageRequest {
  readonly since?: PastTime;
  readonly until?: PastTime;
  readonly actor?: string;
  readonly action?: string;
}

export const audit = defineCommand<[], AuditOptions>({
  name: 'audit',
  summary: 'Show who changed what, newest first, with the values before and after',
  examples: [
    ['cardpoll audit --since 1h', 'all changes of the last hour'],
    ['cardpoll audit --action concurrency', 'who changed the limit, and from what'],
    ['cardpoll audit --actor anna --since 2026-11-01 -o jsonl', 'for programs'],
  ],
  options: [
    { flags: '--since <time>', doc: 'start of the range: 15m, 1h or 7d ago, or a time', kind: pastTime() },
    { flags: '--until <time>', doc: 'end of the range, exclusive', kind: pastTime() },
    { flags: '--actor <name>', doc: 'name of a token, local or daemon', kind: text('name') },
    {
      flags: '--action <action>',
      doc: 'an action such as concurrency.set, or a group such as config',
      kind: text('action'),
    },
    ...pageOptions(20),
  ],
  run: async (context, { options: { since, until, actor, action, page, pageSize } }) => {
    const nowMs = context.io.clock.now();
    const at = (time: PastTime | undefined) =>
      time === undefined ? undefined : new Date(time(nowMs)).toISOString();
    const filter = { since: at(since), until: at(until), actor, action };
    const answer = await ask(context, 'reading the audit trail', (client) =>
      client.audit(filter, page, pageSize),
    );
    await printList(context, answer, {
      table: auditTable,
      noun: 'changes',
      empty: Object.values(filter).some((value) => value !== undefined)
        ? 'no change matches: cardpoll audit shows all'
        : 'nothing has been changed yet',
    });
    return EXIT_OK;
  },
});
