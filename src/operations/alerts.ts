// Alert rules and the history of what they fired. Used by the admin API. A rule is checked as a whole, also when only a
// part of it changes; evaluating and notifying is the engine's work, on whichever instance leads.
import {
  type AlertCondition,
  type AlertRule,
  type AlertRuleFields,
  COOLDOWN_SECONDS_BOUNDS,
  DEFAULT_COOLDOWN_SECONDS,
  type NotifyChannel,
  type Resolution,
  RULE_NAME_MAX_LENGTH,
  ruleTypeFits,
  thresholdBounds,
} from '../domain/alert-rule.ts';
import type { Actor } from '../domain/audit.ts';
import { CardpollError, type FieldProblem } from '../platform/errors.ts';
import type { SsrfGuard } from '../platform/ssrf-guard.ts';
import type { AlertHistoryItem, AlertNotification, AlertRecords, SliceOf } from '../store/alert-records.ts';
import type { Audit } from './audit.ts';
import { wholeNumberWithin } from './bounds.ts';

/** An alert rule as operators read it (03, "Fields"). */
export interface AlertRuleReport extends AlertCondition {
  readonly id: number;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly notifyChannels: readonly NotifyChannel[];
  readonly webhookUrl: string | null;
  readonly cooldownSeconds: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** One alert; condition and name are those of the moment it fired. */
export interface AlertReport extends AlertCondition {
  readonly id: number;
  readonly ruleId: number;
  readonly ruleName: string;
  readonly value: number;
  readonly firedAt: Date;
  /** Null while it fires. */
  readonly resolvedAt: Date | null;
  readonly resolution: Resolution | null;
  readonly resolvedValue: number | null;
  readonly notifications: readonly AlertNotification[];
}

/** What makes a new rule; the rest has defaults. */
export type NewAlertRule = Omit<AlertRuleFields, 'webhookUrl' | 'cooldownSeconds'> & {
  readonly webhookUrl?: string | null | undefined;
  readonly cooldownSeconds?: number | undefined;
};

/** Fields left out stay as they are. */
export type AlertRulePatch = {
  readonly [Field in keyof AlertRuleFields]?: AlertRuleFields[Field] | undefined;
};

/** Pages count from 1. */
export interface PageRequest {
  readonly page: number;
  readonly pageSize: number;
}

const MAX_ID = 2 ** 31 - 1;
const WEBHOOK_URL_MAX_LENGTH = 2_048;

export class AlertOperations {
  constructor(
    private readonly records: AlertRecords,
    private readonly guard: SsrfGuard,
    private readonly audit: Audit,
    /** Rules there may be. */
    private readonly maxRules: number,
  ) {}

  /** Throws `invalid` naming each wrong field. */
  async create(actor: Actor, rule: NewAlertRule): Promise<AlertRuleReport> {
    const fields = this.#checked({
      ...rule,
      webhookUrl: rule.webhookUrl ?? null,
      cooldownSeconds: rule.cooldownSeconds ?? DEFAULT_COOLDOWN_SECONDS,
    });
    const created = await this.audit.change(actor, async ({ alerts }, note) => {
      await this.#requireRoom(alerts);
      const after = await alerts.createRule(fields);
      note({ action: 'alert_rule.create', object: objectOf(after.id), before: null, after: traceOf(after) });
      return after;
    });
    return ruleReportOf(created);
  }

  /** By id. */
  async list(page: PageRequest): Promise<SliceOf<AlertRuleReport>> {
    const { items, total } = await this.records.rules(sliceOf(page));
    return { items: items.map(ruleReportOf), total };
  }

  /** Throws `not_found`. */
  async show(id: number): Promise<AlertRuleReport> {
    return ruleReportOf(await find(this.records, id));
  }

  /** Throws `not_found`, or `invalid` naming each field that is wrong in the rule as it would be. */
  async update(actor: Actor, id: number, patch: AlertRulePatch): Promise<AlertRuleReport> {
    const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
    const updated = await this.audit.change(actor, async ({ alerts }, note) => {
      const before = await find(alerts, id);
      const after = await alerts.updateRule(id, this.#checked({ ...before, ...given }));
      if (after === null) throw ruleNotFound(id);
      const urlChanged = after.webhookUrl !== before.webhookUrl;
      note({
        action: 'alert_rule.update',
        object: objectOf(id),
        before: traceOf(before),
        after: { ...traceOf(after), ...(urlChanged ? { webhookUrlChanged: true } : {}) },
      });
      return after;
    });
    return ruleReportOf(updated);
  }

  /** The rule's history stays; an alert of it that is open is resolved within an evaluation. Throws `not_found`. */
  remove(actor: Actor, id: number): Promise<void> {
    return this.audit.change(actor, async ({ alerts }, note) => {
      const before = await find(alerts, id);
      if (!(await alerts.deleteRule(id))) throw ruleNotFound(id);
      note({ action: 'alert_rule.delete', object: objectOf(id), before: traceOf(before), after: null });
    });
  }

  /** Newest first. @param ruleId null: of all rules, also deleted ones. */
  async history(ruleId: number | null, page: PageRequest): Promise<SliceOf<AlertReport>> {
    if (ruleId !== null && !isId(ruleId)) return { items: [], total: 0 };
    const { items, total } = await this.records.history(ruleId, sliceOf(page));
    return { items: items.map(alertReportOf), total };
  }

  /** Changes take turns, so that no two find the same room. */
  async #requireRoom(alerts: AlertRecords): Promise<void> {
    const { total } = await alerts.rules({ offset: 0, limit: 1 });
    if (total < this.maxRules) return;
    const message = `there are ${this.maxRules} alert rules already`;
    throw new CardpollError('conflict', 'too_many_alert_rules', message, {
      hint: 'delete some (`cardpoll alerts delete`); the bound is api.max_alert_rules',
    });
  }

  #checked(rule: AlertRuleFields): AlertRuleFields {
    const fields = {
      ...rule,
      name: rule.name.trim(),
      notifyChannels: [...new Set(rule.notifyChannels)],
    };
    const problems = [
      problem('name', nameProblem(fields.name)),
      problem('taskType', taskTypeProblem(fields)),
      problem('threshold', thresholdProblem(fields)),
      problem('webhookUrl', this.#webhookProblem(fields)),
      problem('cooldownSeconds', cooldownProblem(fields.cooldownSeconds)),
    ].filter((found) => found !== null);
    if (problems.length === 0) return fields;
    throw new CardpollError('invalid', 'invalid_field', 'the alert rule cannot be like this', {
      fields: problems,
    });
  }

  #webhookProblem({ notifyChannels, webhookUrl }: AlertRuleFields): string | null {
    if (webhookUrl === null) {
      return notifyChannels.includes('webhook') ? 'is required when notify_channels has webhook' : null;
    }
    if (webhookUrl.length > WEBHOOK_URL_MAX_LENGTH)
      return `must have at most ${WEBHOOK_URL_MAX_LENGTH} characters`;
    return this.guard.refusalOf(webhookUrl);
  }
}

async function find(records: AlertRecords, id: number): Promise<AlertRule> {
  const rule = isId(id) ? await records.rule(id) : null;
  if (rule === null) throw ruleNotFound(id);
  return rule;
}

/** What the audit trail may show of a rule: of its URL, which may hold a secret, no more than where it leads. */
function traceOf(rule: AlertRule) {
  const { name, ruleType, taskType, comparison, threshold, isEnabled, notifyChannels, cooldownSeconds } =
    rule;
  const webhookUrl = rule.webhookUrl === null ? null : new URL(rule.webhookUrl).origin;
  return {
    name,
    ruleType,
    taskType,
    comparison,
    threshold,
    isEnabled,
    notifyChannels,
    webhookUrl,
    cooldownSeconds,
  };
}

function objectOf(id: number): string {
  return `alert_rule ${id}`;
}

function nameProblem(name: string): string | null {
  const fits = name.length > 0 && name.length <= RULE_NAME_MAX_LENGTH && !/\p{Cc}/u.test(name);
  return fits ? null : `must have 1 to ${RULE_NAME_MAX_LENGTH} printable characters`;
}

function taskTypeProblem({ ruleType, taskType }: AlertCondition): string | null {
  return ruleTypeFits(ruleType, taskType) ? null : `must be package for ${ruleType}`;
}

function thresholdProblem({ ruleType, threshold }: AlertCondition): string | null {
  const { min, max } = thresholdBounds(ruleType);
  if (Number.isFinite(threshold) && threshold >= min && (max === null || threshold <= max)) return null;
  return max === null
    ? `must be at least ${min} for ${ruleType}`
    : `must be ${min} to ${max} for ${ruleType}`;
}

function cooldownProblem(seconds: number): string | null {
  const { min, max } = COOLDOWN_SECONDS_BOUNDS;
  return Number.isInteger(seconds) && seconds >= min && seconds <= max
    ? null
    : wholeNumberWithin(COOLDOWN_SECONDS_BOUNDS);
}

function problem(field: string, message: string | null): FieldProblem | null {
  return message === null ? null : { field, message };
}

function isId(id: number): boolean {
  return Number.isInteger(id) && id > 0 && id <= MAX_ID;
}

function sliceOf({ page, pageSize }: PageRequest) {
  return { offset: (page - 1) * pageSize, limit: pageSize };
}

function ruleNotFound(id: number): CardpollError {
  return new CardpollError('not_found', 'alert_rule_not_found', `there is no alert rule ${id}`, {
    hint: '`cardpoll alerts rules` shows the ids',
  });
}

function ruleReportOf({ createdAtMs, updatedAtMs, ...rule }: AlertRule): AlertRuleReport {
  return { ...rule, createdAt: new Date(createdAtMs), updatedAt: new Date(updatedAtMs) };
}

function alertReportOf({ firedAtMs, resolvedAtMs, ...alert }: AlertHistoryItem): AlertReport {
  return {
    ...alert,
    firedAt: new Date(firedAtMs),
    resolvedAt: resolvedAtMs === null ? null : new Date(resolvedAtMs),
  };
}
