// An alert as a text for a phone: what, since when, which command. Used by all messages: those to chat robots (a text) and those
// of Standard Webhooks (fields).
//
// The first line of a text has the phrase of the log (log-phrases.ts), which the keyword filter of a robot can name.
import { type Fleet, fleetText } from '../fleet.ts';
import { HEALTH_LEVELS, type Health } from '../health.ts';
import { ALERT_FIRED, ALERT_RESOLVED } from '../log-phrases.ts';
import type { AlertCause } from './alert-cause.ts';
import { type AlertCondition, type NotificationEvent, RULE_TYPE_FACTS, type RuleType } from './alert-rule.ts';
import type { Resolution } from './alert-transition.ts';

/** An alert, from firing to resolution. Its condition and rule name are those at the moment it fired. */
export interface Alert extends AlertCondition {
  readonly id: number;
  /** 0: an outage of the stores, which belongs to no rule. */
  readonly ruleId: number;
  readonly ruleName: string;
  /** Value of the metric when the alert fired. */
  readonly value: number;
  readonly firedAtMs: number;
  /**
   * Its current or last cause, with the words of the time when it was found; null: no reason of health explains it, or it fired
   * under an older version.
   */
  readonly cause: AlertCause | null;
  /** When that cause began; null: unknown. */
  readonly causeSinceMs: number | null;
  /** Its earlier causes, the first one first. */
  readonly earlierCauses: readonly AlertCause[];
  /** When the alert was resolved; null while it fires, like `resolution` and `resolvedValue`. */
  readonly resolvedAtMs: number | null;
  readonly resolution: Resolution | null;
  /** Value of the metric when the alert was resolved; null without a sample. */
  readonly resolvedValue: number | null;
}

export type MessageEvent = NotificationEvent | 'alert.test';

/** Settings that all messages of a fleet need. */
export interface Surroundings {
  readonly fleet: Fleet;
  /** Where the receivers read the runbook: a page without an anchor. */
  readonly runbookUrl: string;
  /** Formats a time in epoch milliseconds. */
  readonly timeOf: (atMs: number) => string;
}

/** The parts of a message for people, and for programs that join messages. */
interface MessageParts {
  readonly text: string;
  readonly severity: 'alert' | 'warning' | 'info';
  readonly command: string;
  readonly runbookUrl: string;
  /** The same key from firing to resolution, from every sender. */
  readonly dedupKey: string;
}

export function messageParts(
  event: MessageEvent,
  alert: Alert,
  { fleet, runbookUrl, timeOf }: Surroundings,
): MessageParts {
  const { ruleType, cause } = alert;
  const { command: usual } = RULE_TYPE_FACTS[ruleType];
  const isTest = event === 'alert.test';
  const isWarning = cause?.severity === 'warning' && ruleType === 'health';
  return {
    text: isTest ? `${TEST} (rule ${alert.ruleName})` : sentence(event, alert, timeOf),
    severity: isTest ? 'info' : isWarning ? 'warning' : 'alert',
    command: cause?.command ?? usual,
    runbookUrl: `${runbookUrl}#${cause?.code ?? ruleType}`,
    dedupKey: `${fleet.id}/${keyOf(alert)}`,
  };
}

/** Several instances may report an outage, and none knows the id. */
function keyOf({ id, ruleId, ruleName, taskType }: Alert): string {
  if (ruleId === 0) return 'stores';
  return id === 0 ? `${ruleName} ${taskType}` : `${id}`;
}

const TEST = 'This is a test: nothing has happened';

function sentence(event: NotificationEvent, alert: Alert, timeOf: Surroundings['timeOf']): string {
  const { ruleType, taskType, value, threshold, comparison, cause, resolvedAtMs } = alert;
  const measured = `${taskType}: ${ruleType} is ${valueText(ruleType, value)} (rule: ${comparison} ${valueText(ruleType, threshold)})`;
  const since = `since ${timeOf(beganMs(alert))}`;
  if (event !== 'alert.resolved') return `${nowWord(event)}${cause?.text ?? measured}, ${since}`;
  const until = resolvedAtMs === null ? '' : ` until ${timeOf(resolvedAtMs)}`;
  const what = cause?.text ?? `${taskType}: ${ruleType} ${endText(alert)}`;
  const how = cause !== null && alert.resolution !== null && alert.resolution !== 'recovered';
  return `over${how ? ` (${RULE_ENDS[alert.resolution]})` : ''}: ${what}, ${since}${until}`;
}

/** The start of the cause; the rule fires some time after it. */
function beganMs({ causeSinceMs, firedAtMs }: Alert): number {
  return causeSinceMs ?? firedAtMs;
}

/** Prefix of a message that an open alert has a new cause. */
function nowWord(event: NotificationEvent): string {
  return event === 'alert.changed' ? 'now: ' : '';
}

/** One text for an alert, or for all alerts of a group; a shared cause appears once. */
export function messageText(event: MessageEvent, alerts: readonly Alert[], by: Surroundings): string {
  const said = new Set<string>();
  const news = alerts.filter(({ cause, id }) => {
    const what = cause === null ? `alert ${id}` : cause.text.replace(/^(realname|carddata|package): /, '');
    return !said.has(what) && said.add(what);
  });
  return news.map((alert) => alertText(event, alert, by)).join('\n\n');
}

function alertText(event: MessageEvent, alert: Alert, by: Surroundings): string {
  const { ruleType, taskType, ruleName, cause } = alert;
  const { command, runbookUrl, severity, dedupKey } = messageParts(event, alert, by);
  const rule = `rule: ${alert.comparison} ${valueText(ruleType, alert.threshold)}`;
  const of = `${taskType}: ${ruleType}`;
  const foot = `fleet ${fleetText(by.fleet)}, ${severity}, ${dedupKey}`;
  if (event === 'alert.test') {
    return `${ALERT_FIRED} [test] ${ruleName}\n${of}, ${rule}\n${TEST}.\n${foot}`;
  }
  const since = `since ${by.timeOf(beganMs(alert))}`;
  const because = cause === null ? '' : `${nowWord(event)}${cause.text}\n`;
  if (event !== 'alert.resolved') {
    const now =
      alert.ruleId === 0
        ? because.trim()
        : `${because}${of} is ${valueText(ruleType, alert.value)} (${rule})`;
    return `${ALERT_FIRED} ${ruleName}\n${now}\n${since}\ntype: ${command}\nread: ${runbookUrl}\n${foot}`;
  }
  const ended = alert.resolvedAtMs === null ? '' : ` until ${by.timeOf(alert.resolvedAtMs)}`;
  const end = alert.ruleId === 0 ? because : `${because}${of} ${endText(alert)} (${rule})\n`;
  return `${ALERT_RESOLVED} ${ruleName}\n${end}${since}${ended}\n${foot}`;
}

/** A rule that was changed, disabled or deleted gives no information about its metric. */
function endText({ ruleType, value, resolvedValue, resolution }: Alert): string {
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
  if (ruleType === 'health') return healthLevel(value);
  return `${value.toLocaleString('en-US', { maximumFractionDigits: 2 })}${RULE_TYPE_FACTS[ruleType].unit}`;
}

/** `alert`: the word for a level of health. */
export function healthLevel(value: number): string {
  const levels = Object.keys(HEALTH_LEVELS) as Health[];
  return levels.find((level) => HEALTH_LEVELS[level] === value) ?? String(value);
}
