// Alert rules and what happens to them, with only what a test is about spelled out: a new field of a rule has its default here.
import type { AlertRuleFields } from '../../src/domain/alerts/alert-rule.ts';
import type { AlertEvent } from '../../src/domain/alerts/alert-transition.ts';
import type { AlertRecords } from '../../src/store/ports/records/alert-records.ts';

/** A rule about a backlog. It notifies its webhook if one is given. */
export function ruleFields(fields: Partial<AlertRuleFields> = {}): AlertRuleFields {
  const condition = {
    ruleType: 'queue_backlog',
    taskType: 'package',
    comparison: '>',
    threshold: 10,
  } as const;
  const webhook = { webhookUrl: null, webhookSecrets: [], webhookFormat: null, webhookGrouped: false };
  const notifyChannels = typeof fields.webhookUrl === 'string' ? (['webhook'] as const) : [];
  return {
    ...{ name: 'backlog', ...condition, isEnabled: true, notifyChannels, ...webhook, cooldownSeconds: 0 },
    ...fields,
  };
}

/** @param ruleIds default: all rules. Those that fire already do not fire, and only these are resolved. */
export async function applyToRules(alerts: AlertRecords, event: AlertEvent, ruleIds?: readonly number[]) {
  const rules = (await alerts.toEvaluate()).filter(
    ({ id, firing }) =>
      (firing === null) === (event.kind === 'fired') && (ruleIds === undefined || ruleIds.includes(id)),
  );
  return alerts.apply(rules.map(({ id, revision }) => ({ ruleId: id, revision, event })));
}
