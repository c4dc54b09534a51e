// `cardpoll migrate`: shows the state of the database schema, or updates it. Uses the database, not a daemon.

import type { MigrateConfig } from '../../config/daemon-config.ts';
import { loadMigrateConfig } from '../../config/load-config.ts';
import { SETTINGS } from '../../config/settings/settings.ts';
import { SECRET_FILES_LINE, secretsOfUnit } from '../../config/unit-secrets.ts';
import { plainText } from '../../domain/plain-text.ts';
import { EXIT_NEGATIVE, EXIT_OK } from '../../platform/exit-codes.ts';
import { listTable, ofItems } from '../../terminal/table.ts';
import { type CommandContext, defineCommand } from '../command.ts';
import type { MigrateAction } from '../launchers.ts';
import { ownAnswer, printAnswer } from '../output/print.ts';

async function migrateAnd(context: CommandContext, action: MigrateAction): Promise<number> {
  const config = await loadMigrateConfig(context.configInputs);
  context.io.stderr.write(`database: ${databaseText(config)}\n`);
  for (const path of config.database.kind === 'embedded' ? secretsOfUnit() : [])
    context.io.stderr.write(`warning: cardpoll.service reads ${path}: ${TO_READ_IT}\n`);
  const { applied, migrations } = await context.launchers.migrate(config, action, (id) =>
    context.io.stderr.write(`applying ${id}\n`),
  );
  const items = migrations.map(({ id, appliedAtMs, newer }) => ({
    id,
    applied_at: appliedAtMs === null ? null : new Date(appliedAtMs).toISOString(),
    applied_now: applied.includes(id),
    newer,
  }));
  const isCurrent =
    action === 'up' && applied.length === 0 && items.every(({ applied_at }) => applied_at !== null);
  if (isCurrent) context.io.stderr.write(`nothing to do: ${currentText(items)}\n`);
  // A list of applied migrations would hide the line.
  if (isCurrent && context.format === 'table') return EXIT_OK;
  const table = listTable<(typeof items)[number]>((style) => [
    { header: 'MIGRATION', cell: ({ id }) => style.text(id), least: 12 },
    {
      header: 'STATE',
      cell: (row) => {
        if (row.applied_at === null) return style.text('missing', 'yellow');
        if (row.newer) return style.text('of a later version', 'yellow');
        return style.text(row.applied_now ? 'applied now' : 'applied', 'green');
      },
    },
    { header: 'SINCE', cell: (row) => style.time(row.applied_at) },
  ]);
  await printAnswer(context, ownAnswer({ items }), ofItems(table));
  return items.every((item) => item.applied_at !== null) ? EXIT_OK : EXIT_NEGATIVE;
}

function currentText(items: ReadonlyArray<{ id: string; newer: boolean }>): string {
  const newer = items.filter((item) => item.newer).map(({ id }) => plainText(id));
  const own = `all ${items.length - newer.length} migrations of this version are applied`;
  return newer.length === 0 ? own : `${own}; of a later version: ${newer.join(', ')}`;
}

const TO_READ_IT = `for the same database add this line to the config file, and use sudo: ${SECRET_FILES_LINE}`;

/** The address of the database, without the password, and its source. */
function databaseText({ database }: MigrateConfig): string {
  if (database.kind === 'embedded') return plainText(`embedded, in ${database.dataDir}`);
  const [server = ''] = database.databaseUrl.split('?');
  const address = server.replace(/^([a-z]+:\/\/[^:@/]*):.*@/, '$1@');
  return plainText(database.from === null ? address : `${address}, from ${database.from}`);
}

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'Show or apply database migrations (default: status)',
  examples: [
    'cardpoll migrate status --database-url postgres://cardpoll@db/cardpoll  # what is missing',
    'cardpoll migrate up --database-url postgres://cardpoll@db/cardpoll  # apply what is missing',
    'cardpoll migrate up --config /etc/cardpoll/cardpoll.yaml  # the database of a config file',
  ],
  settings: [SETTINGS.stores.databaseUrl, SETTINGS.stores.dataDir],
  subcommands: [
    defineCommand({
      name: 'status',
      summary: 'Show which migrations are applied; exit code 1 if some are missing',
      run: (context) => migrateAnd(context, 'status'),
    }),
    defineCommand({
      name: 'up',
      summary: 'Apply the missing migrations',
      run: (context) => migrateAnd(context, 'up'),
    }),
  ],
  run: (context) => migrateAnd(context, 'status'),
});
