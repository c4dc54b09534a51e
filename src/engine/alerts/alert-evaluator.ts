// Evaluates the alert rules. Runs on the leader. A pass reads the rules and their state from the records, reads the metrics once
// for all rules from the live store, and writes every transition in one statement. The rules of firing and resolving are in
// domain/alerts/alert-transition.ts; webhook-sender.ts sends the notifications.
// The only state in memory is how long pending conditions have lasted (before an alert fires, resolves or changes its cause). A
// new leader, or a restart, continues with the same alerts and starts these waits again.
import { causeKey, causesOf, isLate } from '../../domain/alerts/alert-cause.ts';
import { RULE_TYPE_FACTS } from '../../domain/alerts/alert-rule.ts';
import { type AlertEvent, holds, nextEvent } from '../../domain/alerts/alert-transition.ts';
import { ALERT_FIRED, ALERT_RESOLVED } from '../../domain/log-phrases.ts';
import { REASON_CODES, reasonRow } from '../../domain/reasons.ts';
import { canExplain } from '../../health/explains.ts';
import type { FleetHealth } from '../../health/fleet-health.ts';
import { withTimeout } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import { readFleet } from '../../store/ports/live/fleet-reading.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type {
  AlertRecords,
  AlertTransition,
  AppliedTransition,
  RuleToEvaluate,
} from '../../store/ports/records/alert-records.ts';
import type { StopControlRecords, StopRecords } from '../../store/ports/records/stop-records.ts';
import type { LeaderDeps } from '../leadership.ts';

/** A new leader starts to evaluate within this time. */
const FOLLOWER_REST_MS = 500;
/** Longest wait for a metric from the records. After it the metric counts as unknown in this pass. */
const READ_WITHIN_MS = 3_000;
const TOO_SLOW = `a metric of stops could not be read within ${READ_WITHIN_MS / 1_000} s: its rules wait`;
/**
 * An alert resolves when its condition has not held for this long in any pass: a gap in the answers of a slow gateway is no
 * recovery.
 */
const RECOVERED_AFTER_MS = 60_000;
/** An open alert changes its cause when every pass for this long has found the new one. */
const CHANGED_AFTER_MS = 15_000;
const CAUSE_CHANGED = 'an open alert has another cause';

export class AlertEvaluator extends LoopService<
  LeaderDeps & {
    readonly live: Pick<LiveStore, 'work' | 'stats' | 'rings' | 'now'>;
    readonly alerts: Pick<AlertRecords, 'toEvaluate' | 'apply'>;
    readonly stops: Pick<StopRecords, 'unconfirmed' | 'overRunning'>;
    readonly stopControl: Pick<StopControlRecords, 'read'>;
    readonly health: Pick<FleetHealth, 'conditions'>;
    readonly intervalMs: number;
    readonly log: Logger;
  }
> {
  readonly name = 'alert-evaluator';
  /**
   * Rule, revision and new cause -> since when the rule would fire, resolve or change, by the monotonic clock. Holds only rules
   * that wait.
   */
  #waiting = new Map<string, number>();

  async runOnce(): Promise<number> {
    const { alerts, clock, fence, health, intervalMs, live, stops, stopControl } = this.deps;
    if (fence() === null) {
      this.#waiting.clear();
      return FOLLOWER_REST_MS;
    }
    const rules = await alerts.toEvaluate();
    if (rules.length === 0) return intervalMs;
    const read = new Set(rules.map(({ rule }) => RULE_TYPE_FACTS[rule.ruleType].reads));
    const [fleet, unconfirmedStops, control, over, condition] = await Promise.all([
      readFleet(live),
      read.has('unconfirmedStops') ? this.#inTime(stops.unconfirmed()) : null,
      read.has('heldStops') ? this.#inTime(stopControl.read()) : null,
      read.has('overRunning') ? this.#inTime(stops.overRunning()) : null,
      read.has('condition') ? health.conditions() : null,
    ]);
    const heldStops = control?.held ?? null;
    const transitions: AlertTransition[] = [];
    const before = this.#waiting;
    this.#waiting = new Map();
    for (const { id: ruleId, revision, ...watched } of rules) {
      const { ruleType, taskType } = watched.rule;
      const covered = coveredByOtherRules(watched, rules);
      const sample = RULE_TYPE_FACTS[ruleType].sample({
        ...fleet[taskType].metrics,
        unconfirmedStops,
        heldStops,
        overRunning: over?.count ?? null,
        condition: condition === null ? null : condition[taskType],
        covered,
      });
      const reasons = condition?.[taskType].reasons ?? [];
      const causes = causesOf(ruleType, reasons, covered);
      const cause = causes[0] ?? null;
      const event = nextEvent(watched, sample, causes, canExplain);
      const waitMs = isLate(cause) ? 0 : RULE_TYPE_FACTS[ruleType].holdsForMs;
      // A condition that holds during the cooldown waits for both at once.
      const wouldFire = watched.firing === null && sample !== null && holds(watched.rule, sample);
      const neededMs = event === null || event.kind === 'fired' ? (wouldFire ? waitMs : 0) : holdMs(event);
      if (neededMs > 0) {
        // A changed rule has a new revision, so its wait starts again.
        const key = `${ruleId} ${revision} ${event?.kind === 'changed' ? causeKey(event.cause) : ''}`;
        const since = before.get(key) ?? clock.monotonic();
        this.#waiting.set(key, since);
        if (clock.monotonic() - since < neededMs) continue;
      }
      if (event?.kind === 'fired') transitions.push({ ruleId, revision, event: { ...event, cause } });
      else if (event !== null) transitions.push({ ruleId, revision, event });
    }
    await this.#explain(transitions, rules);
    for (const applied of await alerts.apply(transitions)) this.#report(applied);
    return intervalMs;
  }

  /**
   * Waits a limited time for a metric of the records: an unreadable table must not stop the evaluation of the rules that would
   * report it.
   * @returns null: unknown; alerts on that metric keep their state.
   */
  async #inTime<T>(read: Promise<T>): Promise<T | null> {
    let value: T | null = null;
    const known = read.then(
      (answer) => {
        value = answer;
      },
      (error) => this.deps.onError(error, this.deps.intervalMs),
    );
    const isInTime = await withTimeout(READ_WITHIN_MS, known, this.deps.clock);
    // Without this report a rule that is never evaluated would look like one that never fires.
    if (!isInTime) this.deps.onError(new Error(TOO_SLOW), this.deps.intervalMs);
    return value;
  }

  /** Adds a cause also to rules that read no conditions. */
  async #explain(transitions: AlertTransition[], rules: readonly RuleToEvaluate[]): Promise<void> {
    const unexplained = ({ event }: AlertTransition) => event.kind === 'fired' && event.cause === null;
    if (!transitions.some(unexplained)) return;
    const condition = await this.deps.health.conditions();
    for (const [n, transition] of transitions.entries()) {
      const rule = rules.find(({ id }) => id === transition.ruleId)?.rule;
      if (rule === undefined || transition.event.kind !== 'fired' || !unexplained(transition)) continue;
      const [cause = null] = causesOf(rule.ruleType, condition[rule.taskType].reasons, []);
      transitions[n] = { ...transition, event: { ...transition.event, cause } };
    }
  }

  #report({ kind, alert }: AppliedTransition): void {
    const fields = {
      alert_id: alert.id,
      rule_id: alert.ruleId,
      rule_name: alert.ruleName,
      rule_type: alert.ruleType,
      task_type: alert.taskType,
      comparison: alert.comparison,
      threshold: alert.threshold,
    };
    if (kind === 'fired') this.deps.log.warn({ ...fields, value: alert.value }, ALERT_FIRED);
    else if (kind === 'changed')
      this.deps.log.warn({ ...fields, reason: alert.cause?.code, cause: alert.cause?.text }, CAUSE_CHANGED);
    else {
      this.deps.log.info(
        { ...fields, value: alert.resolvedValue, resolution: alert.resolution },
        ALERT_RESOLVED,
      );
    }
  }
}

/** A rule that an operator disabled, changed or deleted ends its alert at once. */
function holdMs(event: AlertEvent): number {
  if (event.kind === 'changed') return CHANGED_AFTER_MS;
  return event.kind === 'resolved' && event.resolution === 'recovered' ? RECOVERED_AFTER_MS : 0;
}

/**
 * Codes of reasons that another enabled rule of the same task type reports; if this rule notifies a receiver, that rule does too.
 */
function coveredByOtherRules(
  { rule: own }: Pick<RuleToEvaluate, 'rule'>,
  rules: readonly RuleToEvaluate[],
): readonly string[] {
  if (own.ruleType !== 'health') return [];
  return REASON_CODES.filter((code) => reasonRow(code).hasRule === true).filter((type) =>
    rules.some(
      ({ rule, isDeleted }) =>
        !isDeleted &&
        rule.isEnabled &&
        rule.ruleType === type &&
        rule.taskType === own.taskType &&
        (rule.notifies || !own.notifies),
    ),
  );
}
