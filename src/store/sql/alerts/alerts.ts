// Alert rules, their history, silences and the webhook outbox. The state of a rule (firing or not, since when) stands in its
// row, so that a restart or another leader goes on where the last one ended; see `apply` in alerts.sql for how it changes.
import {
  type AlertCondition,
  type AlertRule,
  type AlertRuleFields,
  WEBHOOK_GROUP_MS,
} from '../../../domain/alerts/alert-rule.ts';
import type { Silence } from '../../../domain/alerts/alert-silence.ts';
import type {
  Alert,
  AlertHistoryItem,
  AlertNotification,
  AlertRecords,
  AppliedTransition,
  FiringCount,
  RuleToEvaluate,
  SilenceRecords,
  WebhookDelivery,
  WebhookOutbox,
} from '../../ports/records/alert-records.ts';
import { firstOf } from '../client/rows.ts';
import type { SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './alerts.sql';

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
  'silences',
  'forgetEndedSilences',
  'createSilence',
  'removeSilence',
  'claimDeliveries',
  'settleDeliveries',
  'redeliver',
  'countPending',
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

type DeliveryRow = Omit<WebhookDelivery, 'id' | 'alert'> & { readonly deliveryId: number } & Alert;

export function sqlAlerts(client: SqlClient): AlertRecords {
  async function withNotifications(rows: readonly HistoryRow[]): Promise<AlertHistoryItem[]> {
    const ids = rows.map(({ id }) => id);
    const sent = ids.length === 0 ? [] : await client.query<NotificationRow>(SQL.notifications, [ids]);
    const byAlert = new Map<number, AlertNotification[]>();
    for (const { alertId, ...notification } of sent) {
      const own = byAlert.get(alertId) ?? [];
      byAlert.set(alertId, [...own, { channel: 'webhook', ...notification }]);
    }
    return rows.map((row) => ({ ...row, notifications: byAlert.get(row.id) ?? [] }));
  }

  return {
    webhooks: sqlWebhookOutbox(client),
    silences: sqlSilences(client),

    async createRule(fields) {
      const [rule] = await client.query<AlertRule>(SQL.createRule, valuesOf(fields));
      return rule as AlertRule;
    },

    async rules({ offset, limit }) {
      const [items, [count]] = await Promise.all([
        client.query<AlertRule>(SQL.rules, [offset, limit]),
        client.query<{ total: number }>(SQL.countRules),
      ]);
      return { items, total: count?.total ?? 0 };
    },

    rule: (id) => firstOf(client.query<AlertRule>(SQL.rule, [id])),

    updateRule(id, change) {
      return client.transaction(async (tx) => {
        await tx.query(SQL.lockRule, [id]);
        const present = await firstOf(tx.query<AlertRule>(SQL.rule, [id]));
        if (present === null) return null;
        return firstOf(tx.query<AlertRule>(SQL.updateRule, [...valuesOf(change(present)), id]));
      });
    },

    deleteRule(id) {
      return client.transaction(async (tx) => {
        const [rule] = await tx.query<{ isFiring: boolean }>(SQL.lockRule, [id]);
        if (rule === undefined) return false;
        await tx.query(rule.isFiring ? SQL.deleteFiringRule : SQL.deleteRule, [id]);
        return true;
      });
    },

    async history({ ruleId, state }, { offset, limit }) {
      const [rows, [count]] = await Promise.all([
        client.query<HistoryRow>(SQL.history, [ruleId, state, offset, limit]),
        client.query<{ total: number }>(SQL.countHistory, [ruleId, state]),
      ]);
      return { items: await withNotifications(rows), total: count?.total ?? 0 };
    },

    async alert(id) {
      const rows = await client.query<HistoryRow>(SQL.alert, [id]);
      return firstOf(withNotifications(rows));
    },

    async acknowledge(id, by, reason) {
      await client.query(SQL.acknowledge, [id, by, reason]);
    },

    firing: () => client.query<FiringCount>(SQL.firing),

    async toEvaluate() {
      return (await client.query<EvaluationRow>(SQL.toEvaluate)).map(toEvaluation);
    },

    async apply(transitions) {
      if (transitions.length === 0) return [];
      const sorted = [...transitions].sort((a, b) => a.ruleId - b.ruleId);
      const rows = await client.query<Alert & { kind: AppliedTransition['kind'] }>(SQL.apply, [
        sorted.map(({ ruleId }) => ruleId),
        sorted.map(({ revision }) => revision),
        sorted.map(({ event }) => event.kind),
        sorted.map(({ event }) => event.value),
        sorted.map(({ event }) => (event.kind === 'resolved' ? event.resolution : null)),
        WEBHOOK_GROUP_MS,
      ]);
      return rows.map(({ kind, ...alert }) => ({ kind, alert }));
    },
  };
}

/**
 * Whom a silence is about is decided by alert_is_silenced() of migration 0010, where alerts are read and notifications
 * claimed. Those that are over are removed when the next one is made.
 */
function sqlSilences(client: SqlClient): SilenceRecords {
  return {
    list: () => client.query<Silence>(SQL.silences),

    create({ ruleId, ruleType, taskType, reason, by, ends }) {
      const end = ['atMs' in ends ? ends.atMs : null, 'inSeconds' in ends ? ends.inSeconds : null];
      return client.transaction(async (tx) => {
        await tx.query(SQL.forgetEndedSilences);
        const params = [ruleId, ruleType, taskType, reason, by, ...end];
        const [silence] = await tx.query<Silence>(SQL.createSilence, params);
        return silence as Silence;
      });
    },

    remove: (id) => firstOf(client.query<Silence>(SQL.removeSilence, [id])),
  };
}

/**
 * Notifications wait in a table until they are delivered or given up. The number of the attempt is the fence: a sender that
 * was frozen past its lease cannot end the attempt of another.
 */
function sqlWebhookOutbox(client: SqlClient): WebhookOutbox {
  return {
    async claim({ limit, limitPerUrl, leaseMs }) {
      const rows = await client.query<DeliveryRow>(SQL.claimDeliveries, [limit, limitPerUrl, leaseMs]);
      return rows.map(({ deliveryId, attempt, messageId, event, url, groupKey, secrets, ...alert }) => {
        return { id: deliveryId, attempt, messageId, event, url, groupKey, secrets, alert };
      });
    },

    async settle(deliveries, outcome) {
      const rows = await client.query<{ id: number }>(SQL.settleDeliveries, [
        deliveries.map(({ id }) => id),
        deliveries.map(({ attempt }) => attempt),
        outcome.status,
        outcome.status === 'delivered' ? null : outcome.error,
        outcome.status === 'pending' ? outcome.retryInMs : null,
      ]);
      return rows.map(({ id }) => id);
    },

    redeliver: async (alertId) => (await client.query(SQL.redeliver, [alertId])).length,

    pending: async () => (await firstOf(client.query<{ count: number }>(SQL.countPending)))?.count ?? 0,
  };
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
