// Alert rules and their history. The state of a rule (firing or not, since when) stands in its row, so that a restart
// or another leader goes on where the last one ended; see `apply` in alerts.sql for how it changes.
import {
  type AlertCondition,
  type AlertRule,
  type AlertRuleFields,
  WEBHOOK_GROUP_MS,
} from '../../../domain/alerts/alert-rule.ts';
import type { Slice, SliceOf } from '../../../domain/page.ts';
import type {
  Alert,
  AlertHistoryItem,
  AlertNotification,
  AlertRecords,
  AlertTransition,
  AppliedTransition,
  FiringCount,
  HistoryFilter,
  RuleToEvaluate,
  SilenceRecords,
  WebhookOutbox,
} from '../../ports/records/alert-records.ts';
import type { SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
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

/** A rule to evaluate with the condition it fired by. */
type EvaluationRow = AlertCondition &
  Pick<AlertRule, 'id' | 'isEnabled' | 'cooldownSeconds'> &
  Pick<RuleToEvaluate, 'revision' | 'isDeleted' | 'sinceFiredMs'> & {
    readonly isFiring: boolean;
    readonly firedRuleType: AlertCondition['ruleType'];
    readonly firedTaskType: AlertCondition['taskType'];
    readonly firedComparison: AlertCondition['comparison'];
    readonly firedThreshold: number;
  };

type HistoryRow = Omit<AlertHistoryItem, 'notifications'>;

type NotificationRow = Omit<AlertNotification, 'channel'> & { readonly alertId: number };

export class SqlAlerts implements AlertRecords {
  readonly webhooks: WebhookOutbox;
  readonly silences: SilenceRecords;

  constructor(private readonly client: SqlClient) {
    this.webhooks = new SqlWebhookOutbox(client);
    this.silences = new SqlSilences(client);
  }

  async createRule(fields: AlertRuleFields): Promise<AlertRule> {
    const [rule] = await this.client.query<AlertRule>(SQL.createRule, valuesOf(fields));
    return rule as AlertRule;
  }

  async rules({ offset, limit }: Slice): Promise<SliceOf<AlertRule>> {
    const [items, [count]] = await Promise.all([
      this.client.query<AlertRule>(SQL.rules, [offset, limit]),
      this.client.query<{ total: number }>(SQL.countRules),
    ]);
    return { items, total: count?.total ?? 0 };
  }

  async rule(id: number): Promise<AlertRule | null> {
    const [rule = null] = await this.client.query<AlertRule>(SQL.rule, [id]);
    return rule;
  }

  updateRule(id: number, change: (rule: AlertRule) => AlertRuleFields): Promise<AlertRule | null> {
    return this.client.transaction(async (tx) => {
      await tx.query(SQL.lockRule, [id]);
      const [present] = await tx.query<AlertRule>(SQL.rule, [id]);
      if (present === undefined) return null;
      const [rule = null] = await tx.query<AlertRule>(SQL.updateRule, [...valuesOf(change(present)), id]);
      return rule;
    });
  }

  deleteRule(id: number): Promise<boolean> {
    return this.client.transaction(async (tx) => {
      const [rule] = await tx.query<{ isFiring: boolean }>(SQL.lockRule, [id]);
      if (rule === undefined) return false;
      await tx.query(rule.isFiring ? SQL.deleteFiringRule : SQL.deleteRule, [id]);
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
    const rows = await this.client.query<Alert & { kind: AppliedTransition['kind'] }>(SQL.apply, [
      sorted.map(({ ruleId }) => ruleId),
      sorted.map(({ revision }) => revision),
      sorted.map(({ event }) => event.kind),
      sorted.map(({ event }) => event.value),
      sorted.map(({ event }) => (event.kind === 'resolved' ? event.resolution : null)),
      WEBHOOK_GROUP_MS,
    ]);
    return rows.map(({ kind, ...alert }) => ({ kind, alert }));
  }

  async #withNotifications(rows: readonly HistoryRow[]): Promise<AlertHistoryItem[]> {
    const notifications = await this.#notifications(rows.map(({ id }) => id));
    return rows.map((row) => ({ ...row, notifications: notifications.get(row.id) ?? [] }));
  }

  async #notifications(alertIds: readonly number[]): Promise<Map<number, AlertNotification[]>> {
    const byAlert = new Map<number, AlertNotification[]>();
    if (alertIds.length === 0) return byAlert;
    const rows = await this.client.query<NotificationRow>(SQL.notifications, [alertIds]);
    for (const { alertId, ...notification } of rows) {
      const list = byAlert.get(alertId) ?? [];
      byAlert.set(alertId, [...list, { channel: 'webhook', ...notification }]);
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
    fields.webhookGrouped,
  ];
}

function toEvaluation(row: EvaluationRow): RuleToEvaluate {
  const { id, revision, isDeleted, isFiring, sinceFiredMs } = row;
  const { ruleType, taskType, comparison, threshold, isEnabled, cooldownSeconds } = row;
  const firing = {
    ruleType: row.firedRuleType,
    taskType: row.firedTaskType,
    comparison: row.firedComparison,
    threshold: row.firedThreshold,
  };
  return {
    id,
    revision,
    rule: { ruleType, taskType, comparison, threshold, isEnabled, cooldownSeconds },
    isDeleted,
    firing: isFiring ? firing : null,
    sinceFiredMs,
  };
}
