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
import { arraysOf, columnOf, countOf, firstOf, withTotal } from '../client/rows.ts';
import type { SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './alerts.sql';

const sql = statements(file);

export function sqlAlerts(client: SqlClient): AlertRecords {
  return {
    webhooks: sqlWebhookOutbox(client),
    silences: sqlSilences(client),

    async createRule(fields) {
      const [rule] = await client.query<AlertRule>(sql('createRule'), valuesOf(fields));
      return rule as AlertRule;
    },

    rules: ({ offset, limit }) =>
      withTotal(client.query<AlertRule>(sql('rules'), [offset, limit]), client.query(sql('countRules'))),

    rule: (id) => firstOf(client.query<AlertRule>(sql('rule'), [id])),

    updateRule(id, change) {
      return client.transaction(async (tx) => {
        await tx.query(sql('lockRule'), [id]);
        const present = await firstOf(tx.query<AlertRule>(sql('rule'), [id]));
        if (present === null) return null;
        return firstOf(tx.query<AlertRule>(sql('updateRule'), [...valuesOf(change(present)), id]));
      });
    },

    deleteRule(id) {
      return client.transaction(async (tx) => {
        const [rule] = await tx.query<{ isFiring: boolean }>(sql('lockRule'), [id]);
        if (rule === undefined) return false;
        await tx.query(rule.isFiring ? sql('deleteFiringRule') : sql('deleteRule'), [id]);
        return true;
      });
    },

    history: ({ ruleId, state }, { offset, limit }) =>
      withTotal(
        client.query<AlertHistoryItem>(sql('history'), [ruleId, state, offset, limit]),
        client.query(sql('countHistory'), [ruleId, state]),
      ),

    alert: (id) => firstOf(client.query<AlertHistoryItem>(sql('alert'), [id])),

    async acknowledge(id, by, reason) {
      await client.query(sql('acknowledge'), [id, by, reason]);
    },

    firing: () => client.query<FiringCount>(sql('firing')),
    toEvaluate: () => client.query<RuleToEvaluate>(sql('toEvaluate')),

    async apply(transitions) {
      if (transitions.length === 0) return [];
      const sorted = [...transitions].sort((a, b) => a.ruleId - b.ruleId);
      return client.query<AppliedTransition>(sql('apply'), [
        ...arraysOf(sorted, 'ruleId', 'revision'),
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
    list: () => client.query<Silence>(sql('silences')),

    create({ ruleId, ruleType, taskType, reason, by, ends }) {
      const end = ['atMs' in ends ? ends.atMs : null, 'inSeconds' in ends ? ends.inSeconds : null];
      return client.transaction(async (tx) => {
        await tx.query(sql('forgetEndedSilences'));
        const params = [ruleId, ruleType, taskType, reason, by, ...end];
        const [silence] = await tx.query<Silence>(sql('createSilence'), params);
        return silence as Silence;
      });
    },

    remove: (id) => firstOf(client.query<Silence>(sql('removeSilence'), [id])),
  };
}

/**
 * Notifications wait in a table until they are delivered or given up. The number of the attempt is the fence: a sender that
 * was frozen past its lease cannot end the attempt of another.
 */
function sqlWebhookOutbox(client: SqlClient): WebhookOutbox {
  return {
    claim: ({ limit, limitPerUrl, leaseMs }) =>
      client.query<WebhookDelivery>(sql('claimDeliveries'), [limit, limitPerUrl, leaseMs]),

    settle(deliveries, outcome) {
      const params = [
        ...arraysOf(deliveries, 'id', 'attempt'),
        outcome.status,
        outcome.status === 'delivered' ? null : outcome.error,
        outcome.status === 'pending' ? outcome.retryInMs : null,
      ];
      return columnOf<number>(client.query(sql('settleDeliveries'), params));
    },

    redeliver: async (alertId) => (await client.query(sql('redeliver'), [alertId])).length,

    pending: () => countOf(client.query(sql('countPending'))),
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
