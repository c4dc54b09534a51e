// Alert rules and their history. The state of a rule (firing or not, since when) stands in its row, so that a restart
// or another leader goes on where the last one ended; see apply-alert-transitions.sql for how it changes.
import type { AlertRule, AlertRuleFields, AlertState } from '../../domain/alert-rule.ts';
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
} from '../ports/alert-records.ts';
import {
  type AlertRow,
  type ConditionRow,
  HISTORY_COLUMNS,
  type HistoryRow,
  RULE_COLUMNS,
  type RuleRow,
  toAlert,
  toCondition,
  toHistoryItem,
  toRule,
} from './alert-row.ts';
import { SqlSilences } from './alert-silences.ts';
import applyTransitions from './queries/apply-alert-transitions.sql';
import rulesToEvaluate from './queries/rules-to-evaluate.sql';
import type { PreparedSql, SqlClient, SqlValue } from './sql-client.ts';
import { SqlWebhookOutbox } from './webhook-outbox.ts';

const TO_EVALUATE: PreparedSql = { name: 'rules_to_evaluate', text: rulesToEvaluate };
const APPLY: PreparedSql = { name: 'apply_alert_transitions', text: applyTransitions };

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

const IN_STATE: Record<AlertState, string> = {
  firing: 'resolved_at IS NULL',
  resolved: 'resolved_at IS NOT NULL',
};

export class SqlAlerts implements AlertRecords {
  readonly webhooks: WebhookOutbox;
  readonly silences: SilenceRecords;

  constructor(private readonly client: SqlClient) {
    this.webhooks = new SqlWebhookOutbox(client);
    this.silences = new SqlSilences(client);
  }

  async createRule(fields: AlertRuleFields): Promise<AlertRule> {
    const [row] = await this.client.query<RuleRow>(
      `INSERT INTO alert_rules
         (name, rule_type, task_type, comparison, threshold, is_enabled, notify_channels, webhook_url, webhook_secrets,
          cooldown_seconds)
       VALUES ($1, $2, $3, $4, $5::float8, $6::boolean, $7::text[], $8, $9::text[], $10::integer)
       RETURNING ${RULE_COLUMNS}`,
      valuesOf(fields),
    );
    return toRule(row as RuleRow);
  }

  async rules({ offset, limit }: Slice): Promise<SliceOf<AlertRule>> {
    const [rows, [count]] = await Promise.all([
      this.client.query<RuleRow>(
        `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE deleted_at IS NULL
         ORDER BY id OFFSET $1::bigint LIMIT $2::integer`,
        [offset, limit],
      ),
      this.client.query<{ total: number }>(
        'SELECT count(*) AS total FROM alert_rules WHERE deleted_at IS NULL',
      ),
    ]);
    return { items: rows.map(toRule), total: count?.total ?? 0 };
  }

  async rule(id: number): Promise<AlertRule | null> {
    const [row] = await this.client.query<RuleRow>(
      `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE id = $1::integer AND deleted_at IS NULL`,
      [id],
    );
    return row === undefined ? null : toRule(row);
  }

  updateRule(id: number, change: (rule: AlertRule) => AlertRuleFields): Promise<AlertRule | null> {
    return this.client.transaction(async (tx) => {
      const [present] = await tx.query<RuleRow>(
        `SELECT ${RULE_COLUMNS} FROM alert_rules WHERE id = $1::integer AND deleted_at IS NULL FOR UPDATE`,
        [id],
      );
      if (present === undefined) return null;
      const [row] = await tx.query<RuleRow>(
        `UPDATE alert_rules SET name = $1, rule_type = $2, task_type = $3, comparison = $4, threshold = $5::float8,
           is_enabled = $6::boolean, notify_channels = $7::text[], webhook_url = $8, webhook_secrets = $9::text[],
           cooldown_seconds = $10::integer, revision = revision + 1,
           -- Never the same twice: it tells versions apart.
           updated_at = greatest(clock_timestamp(), updated_at + interval '1 millisecond'),
           last_fired_at = CASE WHEN (rule_type, task_type, comparison, threshold) = ($2, $3, $4, $5::float8)
             THEN last_fired_at END
         WHERE id = $11::integer RETURNING ${RULE_COLUMNS}`,
        [...valuesOf(change(toRule(present))), id],
      );
      return row === undefined ? null : toRule(row);
    });
  }

  deleteRule(id: number): Promise<boolean> {
    return this.client.transaction(async (tx) => {
      const [rule] = await tx.query<{ is_firing: boolean }>(
        `SELECT open_alert_id IS NOT NULL AS is_firing FROM alert_rules
         WHERE id = $1::integer AND deleted_at IS NULL FOR UPDATE`,
        [id],
      );
      if (rule === undefined) return false;
      await tx.query(
        rule.is_firing
          ? 'UPDATE alert_rules SET deleted_at = now(), revision = revision + 1 WHERE id = $1::integer'
          : 'DELETE FROM alert_rules WHERE id = $1::integer',
        [id],
      );
      return true;
    });
  }

  async history(
    { ruleId, state }: HistoryFilter,
    { offset, limit }: Slice,
  ): Promise<SliceOf<AlertHistoryItem>> {
    const filter = `($1::integer IS NULL OR rule_id = $1::integer) AND ${state === null ? 'true' : IN_STATE[state]}`;
    const [rows, [count]] = await Promise.all([
      this.client.query<HistoryRow>(
        `SELECT ${HISTORY_COLUMNS} FROM alert_history WHERE ${filter}
         ORDER BY id DESC OFFSET $2::bigint LIMIT $3::integer`,
        [ruleId, offset, limit],
      ),
      this.client.query<{ total: number }>(`SELECT count(*) AS total FROM alert_history WHERE ${filter}`, [
        ruleId,
      ]),
    ]);
    return { items: await this.#withNotifications(rows), total: count?.total ?? 0 };
  }

  async alert(id: number): Promise<AlertHistoryItem | null> {
    const rows = await this.client.query<HistoryRow>(
      `SELECT ${HISTORY_COLUMNS} FROM alert_history WHERE id = $1::bigint`,
      [id],
    );
    const [item] = await this.#withNotifications(rows);
    return item ?? null;
  }

  async acknowledge(id: number, by: string, reason: string): Promise<void> {
    await this.client.query(
      `UPDATE alert_history SET acknowledged_at = clock_timestamp(), acknowledged_by = $2, acknowledged_reason = $3
       WHERE id = $1::bigint AND resolved_at IS NULL AND acknowledged_at IS NULL`,
      [id, by, reason],
    );
  }

  firing(): Promise<FiringCount[]> {
    return this.client.query<FiringCount>(
      `SELECT rule_type AS "ruleType", task_type AS "taskType", count(*) AS firing,
         count(*) FILTER (WHERE alert_is_silenced(rule_id, rule_type, task_type)) AS silenced,
         count(*) FILTER (WHERE acknowledged_at IS NOT NULL) AS acknowledged
       FROM alert_history WHERE resolved_at IS NULL GROUP BY rule_type, task_type`,
    );
  }

  async toEvaluate(): Promise<RuleToEvaluate[]> {
    return (await this.client.query<EvaluationRow>(TO_EVALUATE)).map(toEvaluation);
  }

  async apply(transitions: readonly AlertTransition[]): Promise<AppliedTransition[]> {
    if (transitions.length === 0) return [];
    const sorted = [...transitions].sort((a, b) => a.ruleId - b.ruleId);
    const rows = await this.client.query<AlertRow & { kind: AppliedTransition['kind'] }>(APPLY, [
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
    const rows = await this.client.query<NotificationRow>(
      `SELECT alert_id, event, status, attempts, last_error FROM webhook_outbox
       WHERE alert_id = ANY ($1::bigint[]) ORDER BY id`,
      [alertIds],
    );
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
