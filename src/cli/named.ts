// Finds polling configs, alert rules and cleanup configs by name or by number, in complete lists. Used by commands that show or
// change one of them.
import type { ApiClient } from '../api/client/client.ts';
import type { Answer } from '../api/client/client-calls.ts';
import { didYouMean } from '../config/suggest.ts';
import { CardpollError } from '../platform/errors.ts';
import type { AlertRuleBody } from '../resources/alerts.ts';
import type { RetentionBody } from '../resources/cleanup.ts';
import type { ConfigBody } from '../resources/schedule.ts';
import type { ItemsBody } from '../resources/schema.ts';
import { ask, pagesOf, type ReadPage } from './ask.ts';
import type { CommandContext } from './command.ts';

/** The names in a list of the daemon, for shell completion. */
export function namesIn<Item>(
  read: (client: ApiClient) => Promise<Answer<ItemsBody<Item>>>,
  nameOf: (item: Item) => string,
) {
  return async (context: CommandContext) => (await read(await context.client())).body.items.map(nameOf);
}

/** @param given digits are an id, anything else is a name. Throws `not_found`, and `usage` for an ambiguous name. */
export function findConfig(context: CommandContext, given: string): Promise<ConfigBody> {
  return ask(context, 'reading the polling config', async (client) => {
    if (isId(given)) return (await client.config(Number(given))).body;
    const all = await everyItem((page, pageSize) => client.configs(page, pageSize));
    return oneNamed(given, all, ({ name }) => name, 'polling config', 'cardpoll configs');
  });
}

/** @param given digits are an id, anything else is a name. Throws `not_found`, and `usage` for an ambiguous name. */
export function findAlertRule(context: CommandContext, given: string): Promise<AlertRuleBody> {
  return ask(context, 'reading the alert rule', async (client) => {
    if (isId(given)) return (await client.alertRule(Number(given))).body;
    const all = await everyItem((page, pageSize) => client.alertRules(page, pageSize));
    return oneNamed(given, all, ({ name }) => name, 'alert rule', 'cardpoll alerts rules');
  });
}

/** @param given id or target. Throws `not_found`. */
export async function findRetention(context: CommandContext, given: string): Promise<RetentionBody> {
  const { body } = await ask(context, 'reading cleanup configs', (client) => client.cleanupConfigs());
  return (
    body.items.find(({ id }) => String(id) === given) ??
    oneNamed(given, body.items, ({ target }) => target, 'cleanup config', 'cardpoll cleanup configs')
  );
}

/** All items of a list that fits in memory. */
export async function everyItem<Item>(read: ReadPage<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const items of pagesOf(read)) all.push(...items);
  return all;
}

function isId(given: string): boolean {
  return /^\d{1,10}$/.test(given);
}

function oneNamed<Item extends { readonly id: number }>(
  given: string,
  items: readonly Item[],
  nameOf: (item: Item) => string,
  what: string,
  command: string,
): Item {
  const exact = items.filter((item) => nameOf(item) === given);
  const found = exact.length > 0 ? exact : items.filter((item) => folded(nameOf(item)) === folded(given));
  const [first] = found;
  if (first === undefined) {
    const near = didYouMean(given, items.map(nameOf));
    throw new CardpollError('not_found', 'name_not_found', `there is no ${what} "${given}"${near}`, {
      hint: `to list them: ${command}`,
    });
  }
  if (found.length === 1) return first;
  const ids = found.map(({ id }) => id).join(', ');
  throw new CardpollError(
    'usage',
    'name_ambiguous',
    `${found.length} ${what}s have the name "${given}": ${ids}`,
    { hint: `give the number of the ${what}` },
  );
}

function folded(name: string): string {
  return name.trim().toLowerCase();
}
