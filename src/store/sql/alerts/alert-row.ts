// Rows of alert rules and alerts as the queries return them, and the way to the port's shapes. Used by alerts.ts and
// webhook-outbox.ts.
import type {
  AlertCondition,
  AlertRule,
  Comparison,
  NotifyChannel,
  Resolution,
  RuleType,
} from '../../../domain/alerts/alert-rule.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { Alert, AlertHistoryItem } from '../../ports/records/alert-records.ts';

export interface ConditionRow {
  readonly rule_type: RuleType;
  readonly task_type: TaskType;
  readonly comparison: Comparison;
  readonly threshold: number;
}

export interface RuleRow extends ConditionRow {
  readonly id: number;
  readonly name: string;
  readonly is_enabled: boolean;
  readonly notify_channels: readonly NotifyChannel[];
  readonly webhook_url: string | null;
  readonly webhook_secrets: readonly string[];
  readonly cooldown_seconds: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

export interface AlertRow extends ConditionRow {
  readonly id: number;
  readonly rule_id: number;
  readonly rule_name: string;
  readonly value: number;
  readonly fired_at_ms: number;
  readonly resolved_at_ms: number | null;
  readonly resolution: Resolution | null;
  readonly resolved_value: number | null;
}

export interface HistoryRow extends AlertRow {
  readonly acknowledged_at_ms: number | null;
  readonly acknowledged_by: string | null;
  readonly acknowledged_reason: string | null;
  readonly silenced: boolean;
}

export function toCondition(row: ConditionRow): AlertCondition {
  return {
    ruleType: row.rule_type,
    taskType: row.task_type,
    comparison: row.comparison,
    threshold: row.threshold,
  };
}

export function toRule(row: RuleRow): AlertRule {
  return {
    id: row.id,
    name: row.name,
    ...toCondition(row),
    isEnabled: row.is_enabled,
    notifyChannels: row.notify_channels,
    webhookUrl: row.webhook_url,
    webhookSecrets: row.webhook_secrets,
    cooldownSeconds: row.cooldown_seconds,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}

export function toAlert(row: AlertRow): Alert {
  return {
    id: row.id,
    ruleId: row.rule_id,
    ruleName: row.rule_name,
    ...toCondition(row),
    value: row.value,
    firedAtMs: row.fired_at_ms,
    resolvedAtMs: row.resolved_at_ms,
    resolution: row.resolution,
    resolvedValue: row.resolved_value,
  };
}

export function toHistoryItem(row: HistoryRow): Omit<AlertHistoryItem, 'notifications'> {
  return {
    ...toAlert(row),
    acknowledgedAtMs: row.acknowledged_at_ms,
    acknowledgedBy: row.acknowledged_by,
    acknowledgedReason: row.acknowledged_reason,
    silenced: row.silenced,
  };
}
