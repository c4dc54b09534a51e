// `cardpoll alerts recommended`: the recommended rules (operations interface, section 2.3), and which of them a fleet has. A rule
// counts as present by its name, so an operator's changes are kept; only a missing webhook is added.
import type { ApiClient } from '../../../api/client/client.ts';
import { text } from '../../../config/kinds.ts';
import { recommendedAlerts } from '../../../domain/alerts/recommended-alerts.ts';
import { EXIT_OK } from '../../../platform/exit-codes.ts';
import type { AlertRuleBody } from '../../../resources/alerts.ts';
import { conditionText } from '../../../terminal/reports/alert-tables.ts';
import { listTable, ofItems } from '../../../terminal/table.ts';
import { ask } from '../../ask.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { everyItem } from '../../named.ts';
import { ownAnswer, printAnswer } from '../../output/print.ts';
import { SECRET_FILE, TEMPLATE, webhookOf } from './alert-rules.ts';

interface Recommendation
  extends Pick<
    AlertRuleBody,
    'name' | 'rule_type' | 'task_type' | 'comparison' | 'threshold' | 'notify_channels'
  > {
  readonly state: 'missing' | 'present' | 'updated' | 'created';
  /** null: the rule is missing. */
  readonly id: number | null;
}

export const recommended = defineCommand({
  name: 'recommended',
  summary: 'Show the recommended rules, or create the missing ones',
  examples: [
    'cardpoll alerts recommended  # the rules, and which are missing',
    'cardpoll alerts recommended --apply  # create the missing ones; safe to repeat',
    'cardpoll alerts recommended --apply --webhook-url https://hooks.example  # and notify a webhook',
  ],
  options: [
    { flags: '--apply', doc: 'create the missing rules' },
    {
      flags: '--webhook-url <url>',
      doc: 'webhook of the created rules, and of present ones without a webhook',
      kind: text('URL'),
    },
    TEMPLATE,
    SECRET_FILE,
  ],
  run: async (context, { options }) => {
    const items = await ask(context, 'reading alert rules', (client) =>
      recommend(client, options.apply === true, webhookOf(options)),
    );
    await printAnswer(context, ownAnswer({ items }), ofItems(table));
    warnOfSilence(context, items);
    return EXIT_OK;
  },
});

async function recommend(client: ApiClient, isApplied: boolean, webhook: ReturnType<typeof webhookOf>) {
  const present = await everyItem((page, pageSize) => client.alertRules(page, pageSize));
  const ruleOf = new Map(present.map((rule) => [rule.name, rule]));
  const notifies = webhook.notify_channels !== undefined;
  const notify = { notify_channels: [], ...webhook, ...(notifies ? { webhook_grouped: true } : {}) };
  const items: Recommendation[] = [];
  for (const { ruleType: rule_type, taskType: task_type, ...rest } of recommendedAlerts()) {
    const rule = { ...rest, rule_type, task_type };
    const known = ruleOf.get(rule.name);
    const item = (state: Recommendation['state'], body: AlertRuleBody | null) =>
      items.push({ ...rule, notify_channels: body?.notify_channels ?? [], state, id: body?.id ?? null });
    if (known === undefined && !isApplied) item('missing', null);
    else if (known === undefined) {
      item('created', (await client.createAlertRule({ ...rule, ...notify, is_enabled: true })).body);
    } else if (isApplied && notifies && known.notify_channels.length === 0) {
      item('updated', (await client.updateAlertRule(known.id, notify)).body);
    } else item('present', known);
  }
  return items;
}

/**
 * Warns of gaps in the webhooks, and of rules without one, which only write to log and history and could be mistaken for alerts
 * that someone receives.
 */
function warnOfSilence({ io, format }: CommandContext, items: readonly Recommendation[]): void {
  const rules = items.filter(({ id }) => id !== null);
  const silent = rules.filter(({ notify_channels }) => notify_channels.length === 0);
  if (silent.length === 0 && rules.length > 0 && format === 'table') {
    io.stderr.write(
      'the webhooks also hear when Redis or PostgreSQL is away; that all daemons are dead only alerts.heartbeat_url can tell\n',
    );
  }
  if (silent.length === 0) return;
  const which = silent.length === rules.length ? 'these rules have' : `${silent.length} of these rules have`;
  io.stderr.write(
    `${which} no webhook and notify no one: cardpoll alerts recommended --apply --webhook-url URL\n`,
  );
}

const table = listTable<Recommendation>((style) => [
  { header: 'NAME', cell: (row) => style.text(row.name), least: 12 },
  { header: 'FIRES WHEN', cell: (row) => style.text(conditionText(row)) },
  {
    header: 'STATE',
    cell: ({ state }) =>
      style.text(state, state === 'missing' ? 'yellow' : state === 'present' ? undefined : 'green'),
  },
  { header: 'NOTIFIES', cell: (row) => style.text(row.notify_channels.join(',')) },
  { header: 'ID', cell: (row) => style.id(row.id) },
]);
