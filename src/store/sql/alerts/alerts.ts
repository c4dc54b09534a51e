// Alert rules, their history, silences and the webhook outbox. The state of a rule (firing or not, since when) stands in its
// row, so that a restart or another leader goes on where the last one ended; see `apply` in alerts.sql for how it changes.
import { type AlertRule, type AlertRuleFields, WEBHOOK_GROUP_MS } from '../../../domain/alerts/alert-rule.ts';
import type { Silence } from '../../../domain/alerts/alert-silence.ts';
import type {
  AlertHistoryItem,
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

export function sqlAlerts(client: SqlClient): AlertRecords {
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
      const [items, [count]] = await Promise.all([
        client.query<AlertHistoryItem>(SQL.history, [ruleId, state, offset, limit]),
        client.query<{ total: number }>(SQL.countHistory, [ruleId, state]),
      ]);
      return { items, total: count?.total ?? 0 };
    },

    alert: (id) => firstOf(client.query<AlertHistoryItem>(SQL.alert, [id])),

    async acknowledge(id, by, reason) {
      await client.query(SQL.acknowledge, [id, by, reason]);
    },

    firing: () => client.query<FiringCount>(SQL.firing),
    toEvaluate: () => client.query<RuleToEvaluate>(SQL.toEvaluate),

    async apply(transitions) {
      if (transitions.length === 0) return [];
      const sorted = [...transitions].sort((a, b) => a.ruleId - b.ruleId);
      return client.query<AppliedTransition>(SQL.apply, [
        sorted.map(({ ruleId }) => ruleId),
        sorted.map(({ revision }) => revision),
        sorted.map(({ event }) => event.kind),
        sorted.map(({ event }) => event.value),
        sorted.map(({ event }) => (event.kind === 'resolved' ? event.resolution : null)),
        WEBHOOK_GROUP_MS,
      ]);
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
    claim: ({ limit, limitPerUrl, leaseMs }) =>
      client.query<WebhookDelivery>(SQL.claimDeliveries, [limit, limitPerUrl, leaseMs]),

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
