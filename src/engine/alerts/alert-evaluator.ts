// Evaluates the alert rules. Runs on the leader. A pass reads the rules and their state from the records, reads the
// metrics once for all rules from the live store, and writes every transition in one statement. The rules of firing and
// resolving are in domain/alerts/alert-rule.ts; webhook-sender.ts sends the notifications. Keeps no state of its own,
// so that another leader, or the next start, continues with the same alerts.
import { nextEvent, RULE_TYPE_FACTS } from '../../domain/alerts/alert-rule.ts';
import { ALERT_FIRED, ALERT_RESOLVED } from '../../domain/log-phrases.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import { readFleet } from '../../store/ports/live/fleet-reading.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type {
  AlertRecords,
  AlertTransition,
  AppliedTransition,
} from '../../store/ports/records/alert-records.ts';
import type { StopControlRecords } from '../../store/ports/records/stop-control.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';

/** A new leader starts to evaluate within this time. */
const FOLLOWER_REST_MS = 500;

export class AlertEvaluator extends LoopService {
  constructor(
    private readonly deps: {
      readonly live: Pick<LiveStore, 'work' | 'stats' | 'rings'>;
      readonly alerts: Pick<AlertRecords, 'toEvaluate' | 'apply'>;
      readonly stops: Pick<StopRecords, 'unconfirmed'>;
      readonly stopControl: Pick<StopControlRecords, 'read'>;
      readonly fence: () => number | null;
      readonly intervalMs: number;
      readonly clock: Clock;
      readonly log: Logger;
      readonly onError: LoopErrorHandler;
    },
  ) {
    super('alert-evaluator', deps);
  }

  async runOnce(): Promise<number> {
    const { alerts, clock, fence, intervalMs, live, stops, stopControl } = this.deps;
    if (fence() === null) return FOLLOWER_REST_MS;
    const rules = await alerts.toEvaluate();
    if (rules.length === 0) return intervalMs;
    const counted = new Set(rules.map(({ rule }) => RULE_TYPE_FACTS[rule.ruleType].counts));
    const [fleet, unconfirmedStops, control] = await Promise.all([
      readFleet(live, clock.now()),
      counted.has('unconfirmedStops') ? stops.unconfirmed() : null,
      counted.has('heldStops') ? stopControl.read() : null,
    ]);
    const heldStops = control?.held ?? null;
    const transitions: AlertTransition[] = [];
    for (const { id: ruleId, revision, ...watched } of rules) {
      const { ruleType, taskType } = watched.rule;
      const sample = RULE_TYPE_FACTS[ruleType].sample({
        ...fleet[taskType].metrics,
        unconfirmedStops,
        heldStops,
      });
      const event = nextEvent(watched, sample);
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
