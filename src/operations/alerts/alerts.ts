// Alert rules. Used by the admin API. Every change is checked with the whole rule. The engine of the leader evaluates rules and
// sends notifications. The alerts are in on-call.ts.
import { isDeepStrictEqual } from 'node:util';
import {
  type AlertCondition,
  type AlertRule,
  type AlertRuleFields,
  DEFAULT_COOLDOWN_SECONDS,
  RULE_NAME_MAX_LENGTH,
  RULE_TYPE_FACTS,
  ruleTypeFits,
} from '../../domain/alerts/alert-rule.ts';
import { type Receivers, STANDARD, webhookFormatOf } from '../../domain/alerts/receiver.ts';
import { receiverOf } from '../../domain/alerts/webhook.ts';
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import { type PageRequest, RECORD_ID_BOUNDS, type SliceOf, sliceOf } from '../../domain/page.ts';
import { ONE_LINE } from '../../domain/plain-text.ts';
import type { WebhookTester } from '../../engine/alerts/webhook-attempt.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { SsrfGuard } from '../../platform/ssrf-guard.ts';
import type {
  AlertRuleReport,
  NewAlertRule,
  ReceiverReport,
  WebhookTrialReport,
} from '../../resources/alerts.ts';
import type { AlertRecords } from '../../store/ports/records/alert-records.ts';
import type { OperationDeps } from '../deps.ts';
import { type ExpectedVersion, isWithin, requireVersion, versionOf } from '../requirements.ts';
import { fitReceiver, type GivenWebhook, receiverReports } from './rule-receivers.ts';

/** Changes of a rule; omitted fields keep their values. */
type AlertRulePatch = {
  readonly [Field in keyof NewAlertRule]?: NewAlertRule[Field] | undefined;
};

const WEBHOOK_URL_MAX_LENGTH = 2_048;

export class AlertOperations {
  constructor(
    private readonly deps: Pick<OperationDeps, 'records' | 'audit' | 'limits'> & {
      readonly guard: SsrfGuard;
      readonly tester: WebhookTester;
    },
  ) {}

  /** @throws CardpollError `invalid`, which names each wrong field. */
  async create(actor: Actor, given: NewAlertRule): Promise<AlertRuleReport> {
    const { webhookSecret: _, ...rule } = withFormat(given);
    const fields = this.#checked(
      {
        ...rule,
        webhookUrl: rule.webhookUrl ?? null,
        webhookSecrets: [],
        webhookFormat: rule.webhookFormat ?? null,
        webhookGrouped: rule.webhookGrouped ?? false,
        cooldownSeconds: rule.cooldownSeconds ?? DEFAULT_COOLDOWN_SECONDS,
      },
      given,
      null,
    );
    const created = await this.deps.audit.change(actor, async ({ alerts }, note) => {
      await this.#requireRoom(alerts);
      const after = await alerts.createRule(fields);
      note({
        action: 'alert_rule.create',
        object: objectOf(after.id),
        before: null,
        after: alertRuleTrace(this.#report(after)),
      });
      return after;
    });
    return this.#report(created);
  }

  /** @returns rules in order of id. */
  async list(page: PageRequest): Promise<SliceOf<AlertRuleReport>> {
    const { items, total } = await this.deps.records.alerts.rules(sliceOf(page));
    return { items: items.map((rule) => this.#report(rule)), total };
  }

  /** @throws CardpollError `not_found` for an unknown id. */
  async show(id: number): Promise<AlertRuleReport> {
    return this.#report(await find(this.deps.records.alerts, id));
  }

  /**
   * @throws CardpollError `not_found`; `invalid`, which names each wrong field of the changed rule; `conflict` when the
   * rule does not have the expected version.
   */
  async update(
    actor: Actor,
    id: number,
    patch: AlertRulePatch,
    expected: ExpectedVersion,
  ): Promise<AlertRuleReport> {
    const { webhookSecret: _, ...rest } = withFormat(patch);
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const updated = await this.deps.audit.change(actor, async ({ alerts }, note) => {
      const before = await find(alerts, id);
      // Changes the current rule of the database, which plain SQL may have changed meanwhile.
      const after = await alerts.updateRule(id, (rule) => {
        requireVersion(alertRuleVersion(this.#report(rule)), expected);
        return this.#checked({ ...rule, ...given }, patch, rule);
      });
      if (after === null) throw ruleNotFound(id);
      const changes = {
        ...(after.webhookUrl === before.webhookUrl ? {} : { webhookUrlChanged: true }),
        ...(isDeepStrictEqual(after.webhookSecrets, before.webhookSecrets)
          ? {}
          : { webhookSecretChanged: true }),
      };
      const action = 'alert_rule.update';
      note({
        action,
        object: objectOf(id),
        before: alertRuleTrace(this.#report(before)),
        after: { ...alertRuleTrace(this.#report(after)), ...changes },
      });
      return after;
    });
    return this.#report(updated);
  }

  /**
   * The rule's alerts stay in the history; the next evaluation resolves a firing one. @throws CardpollError `not_found`;
   * `conflict` when the rule does not have the expected version.
   */
  remove(actor: Actor, id: number, expected: ExpectedVersion = null): Promise<void> {
    return this.deps.audit.change(actor, async ({ alerts }, note) => {
      const before = await find(alerts, id);
      requireVersion(alertRuleVersion(this.#report(before)), expected);
      if (!(await alerts.deleteRule(id))) throw ruleNotFound(id);
      note({
        action: 'alert_rule.delete',
        object: objectOf(id),
        before: alertRuleTrace(this.#report(before)),
        after: null,
      });
    });
  }

  /** Sends the rule's webhook once, now. @throws CardpollError `not_found`; `conflict` for a rule without a webhook. */
  test(actor: Actor, id: number): Promise<WebhookTrialReport> {
    const { audit, records, tester } = this.deps;
    // Not in turn, because a receiver may take ten seconds to answer. A repeat during that time sends a second message.
    const send = async () => {
      const rule = await find(records.alerts, id);
      const { webhookUrl } = rule;
      if (webhookUrl === null) {
        throw new CardpollError('conflict', 'rule_without_webhook', `alert rule ${id} has no webhook`, {
          hint: `\`cardpoll alerts rules update ${id} --webhook-url URL\` gives it one`,
        });
      }
      const after = { webhookUrl: receiverOf(webhookUrl) ?? '…' };
      await audit.record(actor, { action: 'alert_rule.test', object: objectOf(id), before: null, after });
      return tester.test(rule, webhookUrl);
    };
    return audit.kept(actor, send);
  }

  /** The receivers that rules may name, in addition to `standard`. */
  receivers(): ReceiverReport[] {
    return receiverReports(this.#receivers);
  }

  get #receivers(): Receivers {
    return this.deps.tester.receivers;
  }

  #report({ webhookSecrets, ...rule }: AlertRule): AlertRuleReport {
    const webhookFormat = webhookFormatOf(rule.webhookFormat, rule.webhookUrl, this.#receivers);
    const webhookTemplate = webhookFormat === STANDARD ? null : webhookFormat;
    return { ...dated(rule), webhookFormat, webhookTemplate, hasWebhookSecret: webhookSecrets.length > 0 };
  }

  /** Called in a transaction that runs alone, so that two changes cannot both take the last free place. */
  async #requireRoom(alerts: AlertRecords): Promise<void> {
    const { total } = await alerts.rules({ offset: 0, limit: 1 });
    if (total < this.deps.limits.maxAlertRules) return;
    const message = `there are already ${this.deps.limits.maxAlertRules} alert rules`;
    throw new CardpollError('conflict', 'too_many_alert_rules', message, {
      hint: 'delete some (`cardpoll alerts rules delete`); the limit is api.max_alert_rules',
    });
  }

  /** @param before null: the rule is new. */
  #checked(rule: AlertRuleFields, given: GivenWebhook, before: AlertRuleFields | null): AlertRuleFields {
    const notifyChannels = [...new Set(rule.notifyChannels)];
    const named = { ...rule, name: rule.name.trim(), notifyChannels };
    const { problems: ofReceiver, ...fitted } = fitReceiver(named, given, before, this.#receivers);
    const fields = { ...named, ...fitted };
    const problems = Object.entries({
      name: nameProblem(fields.name),
      taskType: taskTypeProblem(fields),
      threshold: thresholdProblem(fields),
      ...ofReceiver,
      webhookUrl: ofReceiver.webhookUrl ?? this.#webhookProblem(fields),
    }).flatMap(([field, message]) => (message === null ? [] : { field, message }));
    if (problems.length === 0) return fields;
    throw new CardpollError('invalid', 'invalid_field', 'the alert rule is not valid', {
      fields: problems,
    });
  }

  #webhookProblem({ notifyChannels, webhookUrl }: AlertRuleFields): string | null {
    if (webhookUrl === null) {
      return notifyChannels.includes('webhook') ? 'is required when notify_channels has webhook' : null;
    }
    if (webhookUrl.length > WEBHOOK_URL_MAX_LENGTH)
      return `must have at most ${WEBHOOK_URL_MAX_LENGTH} characters`;
    return this.deps.guard.refusalOf(webhookUrl);
  }
}

/** webhook_template is another name of webhook_format. */
function withFormat<Rule extends AlertRulePatch>({ webhookTemplate, ...rule }: Rule) {
  if (webhookTemplate === undefined) return rule;
  if (rule.webhookFormat === undefined || rule.webhookFormat === webhookTemplate)
    return { ...rule, webhookFormat: webhookTemplate };
  throw new CardpollError('invalid', 'invalid_field', 'the alert rule is not valid', {
    fields: [{ field: 'webhookTemplate', message: 'is webhook_format by another name: give one of them' }],
  });
}

/** The version uses only fields that every reader may see. URL and secrets are covered by the time of the change. */
export function alertRuleVersion(rule: AlertRuleReport): string {
  return versionOf([rule.id, openFieldsOf(rule), rule.updatedAt.getTime()]);
}

async function find(records: AlertRecords, id: number): Promise<AlertRule> {
  const rule = isWithin(RECORD_ID_BOUNDS, id) ? await records.rule(id) : null;
  if (rule === null) throw ruleNotFound(id);
  return rule;
}

/** The fields of a rule for the audit trail. Of its URL only the host: the rest may be secret. */
export function alertRuleTrace(rule: AlertRuleReport) {
  const webhookUrl = rule.webhookUrl === null ? null : (receiverOf(rule.webhookUrl) ?? '…');
  return { ...openFieldsOf(rule), webhookUrl, hasWebhookSecret: rule.hasWebhookSecret };
}

/** The fields without secrets, listed one by one, because a future field may be a secret. */
function openFieldsOf(rule: AlertRuleReport) {
  const { name, ruleType, taskType, comparison, threshold, isEnabled, notifyChannels } = rule;
  const { webhookFormat, webhookGrouped, cooldownSeconds } = rule;
  const condition = { ruleType, taskType, comparison, threshold };
  return { name, ...condition, isEnabled, notifyChannels, webhookFormat, webhookGrouped, cooldownSeconds };
}

function objectOf(id: number): string {
  return `alert_rule ${id}`;
}

function nameProblem(name: string): string | null {
  const fits = name.length > 0 && name.length <= RULE_NAME_MAX_LENGTH && ONE_LINE.test(name);
  return fits ? null : `must have 1 to ${RULE_NAME_MAX_LENGTH} printable characters`;
}

function taskTypeProblem({ ruleType, taskType }: AlertCondition): string | null {
  return ruleTypeFits(ruleType, taskType)
    ? null
    : `must be ${RULE_TYPE_FACTS[ruleType].onlyFor} for ${ruleType}`;
}

function thresholdProblem({ ruleType, threshold }: AlertCondition): string | null {
  const { min, max } = RULE_TYPE_FACTS[ruleType].bounds;
  if (Number.isFinite(threshold) && threshold >= min && (max === null || threshold <= max)) return null;
  return max === null
    ? `must be at least ${min} for ${ruleType}`
    : `must be ${min} to ${max} for ${ruleType}`;
}

function ruleNotFound(id: number): CardpollError {
  return new CardpollError('not_found', 'alert_rule_not_found', `there is no alert rule ${id}`, {
    hint: '`cardpoll alerts rules` shows the ids',
  });
}
