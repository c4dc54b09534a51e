// Alert rules, their history and silences. The state of a rule (firing or not, since when) is in its row, so that a restart or
// another leader continues where the last one ended; `apply` in alerts.sql changes it.
import {
  type AlertRule,
  RULE_TYPE_FACTS,
  RULE_TYPES,
  WEBHOOK_GROUP_MS,
} from '../../../domain/alerts/alert-rule.ts';
import type { AlertRecords, SilenceRecords } from '../../ports/records/alert-records.ts';
import { jsonOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './alerts.sql';
import { sqlOutages } from './outages.ts';
import { sqlWebhookOutbox } from './webhook-outbox.ts';

const sql = statements(file);
const URGENT = RULE_TYPES.filter((type) => RULE_TYPE_FACTS[type].urgent);

export function sqlAlerts(client: SqlClient): AlertRecords {
  const db = sql.on(client);
  return {
    webhooks: sqlWebhookOutbox(client),
    silences: sqlSilences(client),
    outages: sqlOutages(client),

    createRule: (fields) => db.one('createRule', jsonOf(fields)),
    rules: (slice) => db.slice('rules', 'countRules', [], slice),
    rule: (id) => db.first('rule', id),

    updateRule: (id, change) =>
      client.transaction(async (tx) => {
        const present = await sql.on(tx).first<AlertRule>('lockedRule', id);
        return present === null ? null : sql.on(tx).first('updateRule', id, jsonOf(change(present)));
      }),

    deleteRule: (id) => db.hasRow('deleteRule', id),

    history: ({ ruleId, state, sinceMs = null, untilMs = null }, slice) =>
      db.slice('history', 'countHistory', [ruleId, state, sinceMs, untilMs], slice),
    alert: (id) => db.first('alert', id),
    acknowledge: (id, by, reason) => db.run('acknowledge', id, by, reason),
    firing: () => db.rows('firing'),
    toEvaluate: () => db.rows('toEvaluate'),

    async apply(transitions) {
      return transitions.length === 0 ? [] : db.rows('apply', jsonOf(transitions), WEBHOOK_GROUP_MS, URGENT);
    },
  };
}

/**
 * alert_is_silenced() of migration 0010 decides which alerts a silence covers, where alerts are read and notifications claimed.
 * Ended silences are removed when the next one is created.
 */
function sqlSilences(client: SqlClient): SilenceRecords {
  const db = sql.on(client);
  return {
    list: () => db.rows('silences'),
    create: (silence) => db.one('createSilence', jsonOf(silence)),
    remove: (id) => db.first('removeSilence', id),
  };
}
