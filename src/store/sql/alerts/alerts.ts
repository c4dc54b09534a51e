// Alert rules, their history and silences. The state of a rule (firing or not, since when) stands in its
// row, so that a restart or another leader goes on where the last one ended; see `apply` in alerts.sql for how it changes.
import { type AlertRule, type AlertRuleFields, WEBHOOK_GROUP_MS } from '../../../domain/alerts/alert-rule.ts';
import type { AlertRecords, SilenceRecords } from '../../ports/records/alert-records.ts';
import { arraysOf } from '../client/rows.ts';
import type { SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './alerts.sql';
import { sqlWebhookOutbox } from './webhook-outbox.ts';

const sql = statements(file);

export function sqlAlerts(client: SqlClient): AlertRecords {
  const db = sql.on(client);
  return {
    webhooks: sqlWebhookOutbox(client),
    silences: sqlSilences(client),

    createRule: (fields) => db.one('createRule', ...valuesOf(fields)),
    rules: (slice) => db.slice('rules', 'countRules', [], slice),
    rule: (id) => db.first('rule', id),

    updateRule(id, change) {
      return client.transaction(async (tx) => {
        const db = sql.on(tx);
        await db.run('lockRule', id);
        const present = await db.first<AlertRule>('rule', id);
        return present === null ? null : db.first('updateRule', ...valuesOf(change(present)), id);
      });
    },

    deleteRule(id) {
      return client.transaction(async (tx) => {
        const db = sql.on(tx);
        const isFiring = await db.scalar<boolean>('lockRule', id);
        if (isFiring === null) return false;
        await (isFiring ? db.run('deleteFiringRule', id) : db.run('deleteRule', id));
        return true;
      });
    },

    history: ({ ruleId, state }, slice) => db.slice('history', 'countHistory', [ruleId, state], slice),
    alert: (id) => db.first('alert', id),
    acknowledge: (id, by, reason) => db.run('acknowledge', id, by, reason),
    firing: () => db.rows('firing'),
    toEvaluate: () => db.rows('toEvaluate'),

    async apply(transitions) {
      if (transitions.length === 0) return [];
      const sorted = [...transitions].sort((a, b) => a.ruleId - b.ruleId);
      return db.rows(
        'apply',
        ...arraysOf(sorted, 'ruleId', 'revision'),
        sorted.map(({ event }) => event.kind),
        sorted.map(({ event }) => event.value),
        sorted.map(({ event }) => (event.kind === 'resolved' ? event.resolution : null)),
        WEBHOOK_GROUP_MS,
      );
    },
  };
}

/**
 * Whom a silence is about is decided by alert_is_silenced() of migration 0010, where alerts are read and notifications
 * claimed. Those that are over are removed when the next one is made.
 */
function sqlSilences(client: SqlClient): SilenceRecords {
  return {
    list: () => sql.on(client).rows('silences'),

    create({ ruleId, ruleType, taskType, reason, by, ends }) {
      const end = ['atMs' in ends ? ends.atMs : null, 'inSeconds' in ends ? ends.inSeconds : null];
      return client.transaction(async (tx) => {
        await sql.on(tx).run('forgetEndedSilences');
        return sql.on(tx).one('createSilence', ruleId, ruleType, taskType, reason, by, ...end);
      });
    },

    remove: (id) => sql.on(client).first('removeSilence', id),
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
