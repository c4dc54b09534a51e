// Evaluates the alert rules. Runs on the leader. A pass reads the rules and their state from the records, reads the
// metrics once for all rules from the live store, and writes every transition in one statement. The rules of firing and
// resolving are in domain/alerts/alert-rule.ts; webhook-sender.ts sends the notifications. Remembers only since when it has
// seen conditions that must hold for a while before they fire: another leader, or the next start, continues with the same
// alerts and waits for new ones from the beginning.
import { holds, nextEvent, RULE_TYPE_FACTS, type TaskConditions } from '../../domain/alerts/alert-rule.ts';
import { ALERT_FIRED, ALERT_RESOLVED } from '../../domain/log-phrases.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import { readFleet } from '../../store/ports/live/fleet-reading.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type {
  AlertRecords,
  AlertTransition,
  AppliedTransition,
} from '../../store/ports/records/alert-records.ts';
import type { StopControlRecords, StopRecords } from '../../store/ports/records/stop-records.ts';
import type { LeaderMeans } from '../leadership.ts';

/** A new leader starts to evaluate within this time. */
const FOLLOWER_REST_MS = 500;

export class AlertEvaluator extends LoopService<
  LeaderMeans & {
    readonly live: Pick<LiveStore, 'work' | 'stats' | 'rings' | 'now'>;
    readonly alerts: Pick<AlertRecords, 'toEvaluate' | 'apply'>;
    readonly stops: Pick<StopRecords, 'unconfirmed' | 'overRunning'>;
    readonly stopControl: Pick<StopControlRecords, 'read'>;
    readonly conditions: () => Promise<TaskConditions>;
    readonly intervalMs: number;
    readonly log: Logger;
  }
> {
  readonly name = 'alert-evaluator';
  /** Rule -> when its condition began to hold, by the monotonic clock; of rules whose condition must hold for a while. */
  #heldSince = new Map<string, number>();

  async runOnce(): Promise<number> {
    const { alerts, clock, conditions, fence, intervalMs, live, stops, stopControl } = this.deps;
    if (fence() === null) {
      this.#heldSince.clear();
      return FOLLOWER_REST_MS;
    }
    const rules = await alerts.toEvaluate();
    if (rules.length === 0) return intervalMs;
    const read = new Set(rules.map(({ rule }) => RULE_TYPE_FACTS[rule.ruleType].reads));
    const [fleet, unconfirmedStops, control, over, condition] = await Promise.all([
      readFleet(live),
      read.has('unconfirmedStops') ? stops.unconfirmed() : null,
      read.has('heldStops') ? stopControl.read() : null,
      read.has('overRunning') ? stops.overRunning() : null,
      read.has('condition') ? conditions() : null,
    ]);
    const heldStops = control?.held ?? null;
    const transitions: AlertTransition[] = [];
    const heldBefore = this.#heldSince;
    this.#heldSince = new Map();
    for (const { id: ruleId, revision, ...watched } of rules) {
      const { ruleType, taskType } = watched.rule;
      const { holdsForMs, sample: sampleOf } = RULE_TYPE_FACTS[ruleType];
      const sample = sampleOf({
        ...fleet[taskType].metrics,
        unconfirmedStops,
        heldStops,
        overRunning: over?.count ?? null,
        condition: condition === null ? null : condition[taskType],
      });
      const event = nextEvent(watched, sample);
      if (holdsForMs > 0 && sample !== null && holds(watched.rule, sample)) {
        // A changed rule has another revision, and begins anew.
        const key = `${ruleId} ${revision}`;
        const since = heldBefore.get(key) ?? clock.monotonic();
        this.#heldSince.set(key, since);
        if (event?.kind === 'fired' && clock.monotonic() - since < holdsForMs) continue;
      }
      if (event !== null) transitions.push({ ruleId, revision, event });
    }
    for (const applied of await alerts.apply(transitions)) this.#report(applied);
    return intervalMs;
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
    else {
      this.deps.log.info(
        { ...fields, value: alert.resolvedValue, resolution: alert.resolution },
        ALERT_RESOLVED,
      );
    }
  }
}
