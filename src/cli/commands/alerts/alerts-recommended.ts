// `cardpoll alerts recommended`: the recommended rules (operations interface, section 2.3), and which of them a fleet
// has. A rule counts as present when one has its name: what an operator has changed in it stays.
import type { ApiClient } from '../../../api/client/client.ts';
import type { AlertRuleBody } from '../../../api/client/client-bodies.ts';
import { text } from '../../../config/kinds.ts';
import { recommendedAlerts } from '../../../domain/alerts/recommended-alerts.ts';
import { ask } from '../../ask.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { EXIT_OK } from '../../exit-codes.ts';
import { everyItem } from '../../named.ts';
import { printAnswer } from '../../output/print.ts';
import { conditionText } from '../../output/reports/alert-tables.ts';
import type { Style } from '../../output/style.ts';
import { renderTable } from '../../output/table.ts';

interface Recommendation
  extends Pick<AlertRuleBody, 'name' | 'rule_type' | 'task_type' | 'comparison' | 'threshold'> {
  readonly state: 'missing' | 'present' | 'created';
  /** null: the rule is missing. */
  readonly id: number | null;
}

interface RecommendedOptions {
  readonly apply?: boolean;
  readonly webhookUrl?: string;
}

export const recommended = defineCommand<[], RecommendedOptions>({
  name: 'recommended',
  summary: 'Show the recommended rules, or create the missing ones',
  examples: [
    ['cardpoll alerts recommended', 'the rules, and which are missing'],
    ['cardpoll alerts recommended --apply', 'create the missing ones; safe to repeat'],
    ['cardpoll alerts recommended --apply --webhook-url https://hooks.example', 'and notify a webhook'],
  ],
  options: [
    { flags: '--apply', doc: 'create the missing rules' },
    { flags: '--webhook-url <url>', doc: 'webhook of the created rules', kind: text('URL') },
  ],
  run: async (context, { options }) => {
    const items = await ask(context, 'reading alert rules', (client) => recommend(client, options));
    await print(context, items);
    return EXIT_OK;
  },
});

async function recommend(
  client: ApiClient,
  { apply, webhookUrl }: RecommendedOptions,
): Promise<Recommendation[]> {
  const present = await everyItem((page, pageSize) => client.alertRules(page, pageSize));
  const idOf = new Map(present.map(({ name, id }) => [name, id]));
  const items: Recommendation[] = [];
  for (const { ruleType: rule_type, taskType: task_type, ...rest } of recommendedAlerts()) {
    const rule = { ...rest, rule_type, task_type };
    const known = idOf.get(rule.name);
    if (known !== undefined) items.push({ ...rule, state: 'present', id: known });
    else if (apply !== true) items.push({ ...rule, state: 'missing', id: null });
    else {
      const notify =
        webhookUrl === undefined
          ? { notify_channels: [] }
          : { notify_channels: ['webhook' as const], webhook_url: webhookUrl };
      const { body } = await client.createAlertRule({ ...rule, ...notify, is_enabled: true });
      items.push({ ...rule, state: 'created', id: body.id });
    }
  }
  return items;
}

async function print(context: CommandContext, items: readonly Recommendation[]): Promise<void> {
  const body = { items };
  await printAnswer(context, { body, text: JSON.stringify(body) }, (shown, style) =>
    table(shown.items, style),
  );
}

function table(items: readonly Recommendation[], style: Style): string {
  const columns = [
    { header: 'NAME', cell: (row: Recommendation) => style.text(row.name), least: 12 },
    { header: 'FIRES WHEN', cell: (row: Recommendation) => style.text(conditionText(row)) },
    {
      header: 'STATE',
      cell: ({ state }: Recommendation) =>
        style.text(state, state === 'created' ? 'green' : state === 'missing' ? 'yellow' : undefined),
    },
    { header: 'ID', cell: (row: Recommendation) => style.id(row.id) },
  ];
  return renderTable(items, columns, style);
}
