// The services of an instance with role `scheduler`, in their start order: first the leader's lease, then the services that work
// only while this instance leads. Built by engine.ts.

import { MonthCalendar } from '../domain/cards/month-calendar.ts';
import { INITIALISING } from '../domain/log-phrases.ts';
import type { ErrorReporter } from '../platform/loop.ts';
import type { Service } from '../platform/service.ts';
import { AlertEvaluator } from './alerts/alert-evaluator.ts';
import { OutsideHeartbeat } from './alerts/outside-heartbeat.ts';
import { Cleaner } from './cleanup/cleaner.ts';
import type { EngineDeps, EngineSettings } from './engine-settings.ts';
import { type LeaderDeps, Leadership } from './leadership.ts';
import { ConcurrencyController } from './limits/concurrency-controller.ts';
import { LimitsInForce } from './limits/limits-in-force.ts';
import { PauseLog } from './limits/pause-log.ts';
import { MonthStart, OrderUpkeep } from './orders/order-upkeep.ts';
import { WithinResume } from './orders/within-resume.ts';
import { StepWatch } from './results/step-watch.ts';
import { UsageJumpWatch } from './results/usage-jump-watch.ts';
import type { ConfigWatch } from './schedule/config-watch.ts';
import { Initialiser } from './schedule/initialiser.ts';
import { MaintenanceLog } from './schedule/maintenance-log.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { HistorySampler } from './stats/history-sampler.ts';
import { TriggerFeeder } from './trigger-feeder.ts';
import { Reaper } from './work/reaper.ts';

export function leaderServices(
  settings: EngineSettings,
  deps: EngineDeps,
  watch: ConfigWatch,
  errors: ErrorReporter,
  judgeChanged: (cardIds: readonly number[]) => Promise<void>,
): Service[] {
  const { live, records, clock, log, digest, audit, rateLimits, health, fleet, guard, meter } = deps;
  const { queueCap, leaseMs, initBatch, initPauseMs, adaptiveConcurrency } = settings.polling;
  const { resumeAtMonthStart, resumeWithin } = settings.stops;
  const { schedule, pauseMs } = settings.cleanup;
  const { runbookUrl, heartbeatUrl, heartbeatIntervalMs, intervalMs } = settings.alerts;
  const leadership = new Leadership({
    coordination: live.coordination,
    holder: settings.instanceId,
    clock,
    configsReadAt: () => watch.readAt,
    onChange: (leads, fence) =>
      log.info({ fence }, leads ? 'this instance leads' : 'this instance no longer leads'),
    onError: errors.for('leadership'),
  });
  const calendar = new MonthCalendar(settings.timeZone);
  const matcher = () => watch.matcher;
  const fence = () => leadership.fence();
  const ceiling = settings.gateway.maxConcurrency;
  const lead = (part: string): LeaderDeps => ({ clock, fence, onError: errors.for(part) });
  return [
    leadership,
    new LimitsInForce({ ...lead('limits-in-force'), live, records, ceiling, log, digest }),
    new Scheduler({ ...lead('scheduler'), rings: live.rings, matcher, queueCap }),
    new Initialiser({
      ...lead('initialiser'),
      ...{ live, records, judgeChanged, calendar, matcher, initBatch, initPauseMs, queueCap },
      onProgress: ({ status, reason, total, loaded, batch, batches }) =>
        log.info({ status, reason, total, loaded, batch, batches }, INITIALISING),
      onReconcile: (reason) => log.warn({ reason }, 'the schedule is compared with all cards'),
      onRepair: (repairs) => log.warn({ ...repairs }, 'schedule repaired'),
    }),
    new ConcurrencyController({
      ...lead('concurrency-controller'),
      ...{ live, adaptiveConcurrency, ceiling, log, digest },
    }),
    new Cleaner({
      ...lead('cleaner'),
      ...{ records, cleanup: records.cleanup, audit, schedule, pauseMs, calendar, log },
      changeMark: async () => (await live.coordination.initProgress()).changeMark || null,
    }),
    new TriggerFeeder({
      ...lead('trigger-feeder'),
      ...{ triggers: records.triggers, work: live.work, manual: live.manual, rateLimits, log },
    }),
    new Reaper({ ...lead('reaper'), live, records, calendar, leaseMs, log }),
    new OrderUpkeep({
      ...lead('order-upkeep'),
      ...{ records, log },
      monthStart: new MonthStart({ enabled: resumeAtMonthStart, records, live, audit, calendar, clock, log }),
    }),
    ...(resumeWithin
      ? [new WithinResume({ ...lead('within-resume'), records, live, audit, calendar, log })]
      : []),
    new HistorySampler({ ...lead('history-sampler'), live }),
    new PauseLog({ ...lead('pause-log'), live, log, digest }),
    new MaintenanceLog({ ...lead('maintenance-log'), records, audit, log }),
    new UsageJumpWatch({
      ...lead('usage-jump-watch'),
      ...{ live, records: records.stopControl, jumpFactor: settings.usage.jumpFactor, log },
    }),
    ...(settings.usage.jumpFactor === 'off'
      ? []
      : [new StepWatch({ ...lead('step-watch'), live, records, log })]),
    new AlertEvaluator({
      ...lead('alert-evaluator'),
      ...{ live, health, intervalMs, log },
      ...{ alerts: records.alerts, stops: records.stops, stopControl: records.stopControl },
    }),
    ...(heartbeatUrl === null
      ? []
      : [
          new OutsideHeartbeat({
            ...lead('outside-heartbeat'),
            ...{ url: heartbeatUrl, intervalMs: heartbeatIntervalMs, secrets: settings.webhooks.secrets },
            ...{ health, fleet, runbookUrl, guard, meter, log },
          }),
        ]),
  ];
}
