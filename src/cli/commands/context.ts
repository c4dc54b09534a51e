// `cardpoll context`: names for daemons, so that operators need not type URLs. config/contexts.ts reads and writes the file.
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CONTEXT_NAME, type Contexts, readContexts, writeContexts } from '../../config/contexts.ts';
import { parseOr } from '../../config/kinds.ts';
import { SETTINGS } from '../../config/settings/settings.ts';
import { didYouMean } from '../../config/suggest.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { EXIT_OK } from '../../platform/exit-codes.ts';
import { listTable } from '../../terminal/table.ts';
import { type ArgumentSpec, type CommandContext, defineCommand } from '../command.ts';
import { ownAnswer, printList } from '../output/print.ts';

const NEW_NAME = {
  name: '<name>',
  doc: CONTEXT_NAME.accepts,
  kind: CONTEXT_NAME,
} as const satisfies ArgumentSpec;
const NAME = {
  ...NEW_NAME,
  doc: 'name of a context',
  names: async ({ configInputs }) => (await readContexts(configInputs.env)).all.map(({ name }) => name),
} as const satisfies ArgumentSpec;

const add = defineCommand({
  name: 'add',
  summary: 'Add a daemon under a name, or change its URL; the first one is in use at once',
  arguments: [NEW_NAME],
  run: async (context, { args: [name] }) => {
    const { flags, env } = context.configInputs;
    const url = urlOf(flags['--url']);
    const tokenFile = await findTokenFile(flags['--token-file']);
    const { current, all } = await readContexts(env);
    const others = all.filter((one) => one.name !== name);
    await save(context, { current: current ?? name, all: [...others, { name, url, tokenFile }] });
    return EXIT_OK;
  },
});

function urlOf(given: string | undefined): string {
  if (given === undefined)
    throw new CardpollError('usage', 'url_missing', 'no daemon given: --url is missing');
  return parseOr(
    () => SETTINGS.client.url.kind.parse(given),
    (problem) => new CardpollError('usage', 'invalid_argument', `--url: ${problem}`),
  );
}

/** An absolute path: it will be read from other directories. */
async function findTokenFile(given: string | undefined): Promise<string | null> {
  if (given === undefined) return null;
  const path = resolve(given);
  try {
    await access(path);
  } catch (error) {
    throw new CardpollError('input_missing', 'token_file_missing', `--token-file: ${messageOf(error)}`);
  }
  return path;
}

const use = defineCommand({
  name: 'use',
  summary: 'Use this daemon in every command, unless --url or CARDPOLL_URL names another',
  arguments: [NAME],
  run: async (context, { args: [name] }) => {
    const contexts = await known(context, name);
    await save(context, { ...contexts, current: name });
    return EXIT_OK;
  },
});

const remove = defineCommand({
  name: 'remove',
  summary: 'Remove a context',
  examples: [
    'cardpoll context remove prod  # its token file is kept',
    'cardpoll context list  # all contexts',
    'cardpoll context use staging  # use another one from now on',
  ],
  arguments: [NAME],
  run: async (context, { args: [name] }) => {
    const { current, all } = await known(context, name);
    const rest = all.filter((one) => one.name !== name);
    await save(context, { current: current === name ? null : current, all: rest });
    return EXIT_OK;
  },
});

async function known({ configInputs }: CommandContext, name: string): Promise<Contexts> {
  const contexts = await readContexts(configInputs.env);
  const names = contexts.all.map((one) => one.name);
  if (names.includes(name)) return contexts;
  const message = `there is no context ${name}${didYouMean(name, names)}`;
  throw new CardpollError('not_found', 'context_not_found', message, { hint: 'cardpoll context list' });
}

async function save({ configInputs, io }: CommandContext, contexts: Contexts): Promise<void> {
  await writeContexts(configInputs.env, contexts);
  io.stderr.write(contexts.current === null ? 'no context is in use\n' : `${contexts.current} is in use\n`);
}

async function show(context: CommandContext): Promise<number> {
  const { current, all } = await readContexts(context.configInputs.env);
  const items = all.map(({ name, url, tokenFile }) => ({
    name,
    url,
    token_file: tokenFile,
    current: name === current,
  }));
  return printList(context, ownAnswer({ items }), {
    table: listTable((style) => [
      { header: 'NAME', cell: ({ name }) => style.text(name) },
      {
        header: 'IN USE',
        cell: (row) => style.text(row.current ? 'yes' : 'no', row.current ? 'green' : undefined),
      },
      { header: 'URL', cell: ({ url }) => style.text(url) },
      { header: 'TOKEN FILE', cell: (row) => style.text(row.token_file), drop: 1 },
    ]),
    empty: 'no contexts yet: cardpoll context add NAME --url https://HOST',
  });
}

export const contextCommand = defineCommand({
  name: 'context',
  summary: 'Manage named daemons, and choose the one that commands use (default: list)',
  examples: [
    'cardpoll context add prod --url https://poll.example --token-file ~/.cardpoll-prod  # add a daemon under a name',
    'cardpoll context use prod  # every command uses it from now on',
    'cardpoll context list  # all contexts, and the one in use',
  ],
  subcommands: [add, use, defineCommand({ name: 'list', summary: 'Show all contexts', run: show }), remove],
  run: show,
});
