// Alert rules and their history. The state of a rule (firing or not, since when) stands in its row, so that a restart
// or another leader goes on where the last one ended; see `apply` in alerts.sql for how it changes.
import type { AlertRule, AlertRuleFields } from '../../../domain/alerts/alert-rule.ts';
import type {
  AlertHistoryItem,
  AlertNotification,
  AlertRecords,
  AlertTransition,
  AppliedTransition,
  FiringCount,
  HistoryFilter,
  RuleToEvaluate,
  SilenceRecords,
  Slice,
  SliceOf,
  WebhookOutbox,
} from '../../ports/records/alert-records.ts';
import type { SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import {
  type AlertRow,
  type ConditionRow,
  type HistoryRow,
  type RuleRow,
  toAlert,
  toCondition,
  toHistoryItem,
  toRule,
} from './alert-row.ts';
import { SqlSilences } from './alert-silences.ts';
import file from './alerts.sql';
import { SqlWebhookOutbox } from './webhook-outbox.ts';

const SQL = statements(
  file,
  'createRule',
  'rules',
  'countRules',
  'rule',
  'lockRule',
  'updateRule',
  'deleteFiringRule',
  'deleteRule',
  'history',
  'countHistory',
  'alert',
  'acknowledge',
  'firing',
  'notifications',
  'toEvaluate',
  'apply',
);

interface EvaluationRow extends ConditionRow {
  readonly id: number;
  readonly revision: number;
  readonly is_enabled: boolean;
  readonly is_deleted: boolean;
  readonly is_firing: boolean;
  readonly cooldown_seconds: number;
  readonly since_fired_ms: number | null;
  readonly fired_rule_type: ConditionRow['rule_type'];
  readonly fired_task_type: ConditionRow['task_type'];
  readonly fired_comparison: ConditionRow['comparison'];
  readonly fired_threshold: number;
}

interface NotificationRow {
  readonly alert_id: number;
  readonly event: AlertNotification['event'];
  readonly status: AlertNotification['status'];
  readonly attempts: number;
  readonly last_error: string | null;
}

export class SqlAlerts implements AlertRecords {
  readonly webhooks: WebhookOutbox;
  readonly silences: SilenceRecords;

  constructor(private readonly client: SqlClient) {
    this.webhooks = new SqlWebhookOutbox(client);
    this.silences = new SqlSilences(client);
  }

  async createRule(fields: AlertRuleFields): Promise<AlertRule> {
    const [row] = await this.client.query<RuleRow>(SQL.createRule, valuesOf(fields));
    return toRule(row as RuleRow);
  }

  async rules({ offset, limit }: Slice): Promise<SliceOf<AlertRule>> {
    const [rows, [count]] = await Promise.all([
      this.client.query<RuleRow>(SQL.rules, [offset, limit]),
      this.client.query<{ total: number }>(SQL.countRules),
    ]);
    return { items: rows.map(toRule), total: count?.total ?? 0 };
  }

  async rule(id: number): Promise<AlertRule | null> {
    const [row] = await this.client.query<RuleRow>(SQL.rule, [id]);
    return row === undefined ? null : toRule(row);
  }

  updateRule(id: number, change: (rule: AlertRule) => AlertRuleFields): Promise<AlertRule | null> {
    return this.client.transaction(async (tx) => {
      await tx.query(SQL.lockRule, [id]);
      const [present] = await tx.query<RuleRow>(SQL.rule, [id]);
      if (present === undefined) return null;
      const [row] = await tx.query<RuleRow>(SQL.updateRule, [...valuesOf(change(toRule(present))), id]);
      return row === undefined ? null : toRule(row);
    });
  }

  deleteRule(id: number): Promise<boolean> {
    return this.client.transaction(async (tx) => {
      const [rule] = await tx.query<{ is_firing: boolean }>(SQL.lockRule, [id]);
      if (rule === undefined) return false;
      await tx.query(rule.is_firing ? SQL.deleteFiringRule : SQL.deleteRule, [id]);
      return true;
    });
  }

  async history(
    { ruleId, state }: HistoryFilter,
    { offset, limit }: Slice,
  ): Promise<SliceOf<AlertHistoryItem>> {
    const [rows, [count]] = await Promise.all([
      this.client.query<HistoryRow>(SQL.history, [ruleId, state, offset, limit]),
      this.client.query<{ total: number }>(SQL.countHistory, [ruleId, state]),
    ]);
    return { items: await this.#withNotifications(rows), total: count?.total ?? 0 };
  }

  async alert(id: number): Promise<AlertHistoryItem | null> {
    const rows = await this.client.query<HistoryRow>(SQL.alert, [id]);
    const [item] = await this.#withNotifications(rows);
    return item ?? null;
  }

  async acknowledge(id: number, by: string, reason: string): Promise<void> {
    await this.client.query(SQL.acknowledge, [id, by, reason]);
  }

  firing(): Promise<FiringCount[]> {
    return this.client.query<FiringCount>(SQL.firing);
  }

  async toEvaluate(): Promise<RuleToEvaluate[]> {
    return (await this.client.query<EvaluationRow>(SQL.toEvaluate)).map(toEvaluation);
  }

  async apply(transitions: readonly AlertTransition[]): Promise<AppliedTransition[]> {
    if (transitions.length === 0) return [];
    const sorted = [...transitions].sort((a, b) => a.ruleId - b.ruleId);
    const rows = await this.client.query<AlertRow & { kind: AppliedTransition['kind'] }>(SQL.apply, [
      sorted.map(({ ruleId }) => ruleId),
      sorted.map(({ revision }) => revision),
      sorted.map(({ event }) => event.kind),
      sorted.map(({ event }) => event.value),
      sorted.map(({ event }) => (event.kind === 'resolved' ? event.resolution : null)),
    ]);
    return rows.map((row) => ({ kind: row.kind, alert: toAlert(row) }));
  }

  async #withNotifications(rows: readonly HistoryRow[]): Promise<AlertHistoryItem[]> {
    const notifications = await this.#notifications(rows.map(({ id }) => id));
    return rows.map((row) => ({ ...toHistoryItem(row), notifications: notifications.get(row.id) ?? [] }));
  }

  async #notifications(alertIds: readonly number[]): Promise<Map<number, AlertNotification[]>> {
    const byAlert = new Map<number, AlertNotification[]>();
    if (alertIds.length === 0) return byAlert;
    const rows = await this.client.query<NotificationRow>(SQL.notifications, [alertIds]);
    for (const { alert_id: alertId, event, status, attempts, last_error: lastError } of rows) {
      const list = byAlert.get(alertId) ?? [];
      byAlert.set(alertId, [...list, { channel: 'webhook', event, status, attempts, lastError }]);
    }
    return byAlert;
  }
}

function valuesOf(fields: AlertRuleFields): SqlValue[] {
  return [
    fields.name,
    fields.ruleType,
    fields.taskType,
    fields.comparison,
    fields.threshold,
    fields.isEnabled,
    fields.notifyChannels,
    fields.webhookUrl,
    fields.webhookSecrets,
    fields.cooldownSeconds,
  ];
}

function toEvaluation(row: EvaluationRow): RuleToEvaluate {
  const firing = toCondition({
    rule_type: row.fired_rule_type,
    task_type: row.fired_task_type,
    comparison: row.fired_comparison,
    threshold: row.fired_threshold,
  });
  return {
    id: row.id,
    revision: row.revision,
    rule: { ...toCondition(row), isEnabled: row.is_enabled, cooldownSeconds: row.cooldown_seconds },
    isDeleted: row.is_deleted,
    firing: row.is_firing ? firing : null,
    sinceFiredMs: row.since_fired_ms,
  };
}
