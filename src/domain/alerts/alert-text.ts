// An alert in the words that a person reads on a phone: what, since when, what to type. Used by the messages to chat robots.
//
// The first line has the phrase of the log (log-phrases.ts), which the keyword filter of a robot can name.
import { HEALTH_LEVELS, type Health } from '../health.ts';
import { ALERT_FIRED, ALERT_RESOLVED } from '../log-phrases.ts';
import {
  type AlertCondition,
  type NotificationEvent,
  type Resolution,
  RULE_TYPE_FACTS,
  type RuleType,
} from './alert-rule.ts';

interface ToldAlert extends AlertCondition {
  readonly ruleName: string;
  readonly value: number;
  readonly firedAtMs: number;
  readonly resolvedAtMs: number | null;
  readonly resolution: Resolution | null;
  readonly resolvedValue: number | null;
}

/** @param timeOf how a time is written, of epoch milliseconds. */
export function alertText(
  event: NotificationEvent | 'alert.test',
  alert: ToldAlert,
  timeOf: (atMs: number) => string,
): string {
  const { ruleType, taskType, ruleName } = alert;
  const rule = `rule: ${alert.comparison} ${valueText(ruleType, alert.threshold)}`;
  const of = `${taskType}: ${ruleType}`;
  if (event === 'alert.test') {
    return `${ALERT_FIRED} [test] ${ruleName}\n${of}, ${rule}\nThis is a test: nothing has happened.`;
  }
  const since = `since ${timeOf(alert.firedAtMs)}`;
  if (event === 'alert.fired') {
    const now = `${of} is ${valueText(ruleType, alert.value)} (${rule})`;
    return `${ALERT_FIRED} ${ruleName}\n${now}\n${since}\ntype: ${RULE_TYPE_FACTS[ruleType].command}`;
  }
  const ended = alert.resolvedAtMs === null ? '' : ` until ${timeOf(alert.resolvedAtMs)}`;
  return `${ALERT_RESOLVED} ${ruleName}\n${of} ${endText(alert)} (${rule})\n${since}${ended}`;
}

/** A rule that was changed, disabled or deleted says nothing about its metric. */
function endText({ ruleType, value, resolvedValue, resolution }: ToldAlert): string {
  const was = `was ${valueText(ruleType, value)}`;
  if (resolution !== null && resolution !== 'recovered') return `${was}; ${RULE_ENDS[resolution]}`;
  return resolvedValue === null ? was : `is ${valueText(ruleType, resolvedValue)}, ${was}`;
}

const RULE_ENDS: Readonly<Record<Exclude<Resolution, 'recovered'>, string>> = {
  rule_disabled: 'the rule was disabled',
  rule_changed: 'the rule was changed',
  rule_deleted: 'the rule was deleted',
};

function valueText(ruleType: RuleType, value: number): string {
  if (ruleType === 'health') return levelOf(value);
  return `${value.toLocaleString('en-US', { maximumFractionDigits: 2 })}${RULE_TYPE_FACTS[ruleType].unit}`;
}

function levelOf(value: number): string {
  const levels = Object.keys(HEALTH_LEVELS) as Health[];
  return levels.find((level) => HEALTH_LEVELS[level] === value) ?? String(value);
}
