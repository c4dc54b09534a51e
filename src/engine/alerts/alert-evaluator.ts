// Evaluates the alert rules. Runs on the leader: one pass reads the rules and their state from the records, the metrics
// once for all of them from the live store, and writes every transition in one statement. What a rule does is decided in
// domain/alerts/alert-rule.ts; telling others is webhook-sender.ts. Keeps no state of its own, so that another leader, or the
// next start, goes on with the same alerts.
import { nextEvent, RULE_TYPE_FACTS, type RuleType } from '../../domain/alerts/alert-rule.ts';
import { ALERT_FIRED, ALERT_RESOLVED } from '../../domain/log-phrases.ts';
import { pollRatesOf } from '../../domain/stats/task-metrics.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type {
  AlertRecords,
  AlertTransition,
  AppliedTransition,
} from '../../store/ports/records/alert-records.ts';
import type { StopRecords } from '../../store/ports/records/stop-records.ts';

/** How soon a new leader evaluates. */
const FOLLOWER_REST_MS = 500;

type Sample = (taskType: TaskType, ruleType: RuleType) => number | null;

export class AlertEvaluator extends LoopService {
  constructor(
    private readonly deps: {
      readonly live: Pick<LiveStore, 'work' | 'stats'>;
      readonly alerts: Pick<AlertRecords, 'toEvaluate' | 'apply'>;
      readonly stops: Pick<StopRecords, 'unconfirmed'>;
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
    const { alerts, fence, intervalMs } = this.deps;
    if (fence() === null) return FOLLOWER_REST_MS;
    const rules = await alerts.toEvaluate();
    if (rules.length === 0) return intervalMs;
    const watchesStops = rules.some(({ rule }) => rule.ruleType === 'stop_unconfirmed');
    const sample = await this.#readMetrics(watchesStops);
    const transitions: AlertTransition[] = [];
    for (const { id: ruleId, revision, ...watched } of rules) {
      const event = nextEvent(watched, sample(watched.rule.taskType, watched.rule.ruleType));
      if (event !== null) transitions.push({ ruleId, revision, event });
    }
    for (const applied of await alerts.apply(transitions)) this.#report(applied);
    return intervalMs;
  }

  async #readMetrics(withStops: boolean): Promise<Sample> {
    const { work, stats } = this.deps.live;
    const unconfirmedStops = withStops ? await this.deps.stops.unconfirmed() : null;
    const metrics = await Promise.all(
      TASK_TYPES.map(async (taskType) => {
        const [counts, reading] = await Promise.all([work.counts(taskType), stats.read(taskType)]);
        const { succeeded, failed } = reading.window;
        const rates = pollRatesOf(reading.window);
        const { queueLength } = counts;
        return [taskType, { queueLength, polls: succeeded + failed, rates, unconfirmedStops }] as const;
      }),
    );
    const byType = new Map(metrics);
    return (taskType, ruleType) => {
      const found = byType.get(taskType);
      return found === undefined ? null : RULE_TYPE_FACTS[ruleType].sample(found);
    };
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
