// The services of an instance with role `scheduler`, in the order in which they start: the leader's lease first, then
// the services that work only while this instance leads. Built by engine.ts.

import { MonthCalendar } from '../domain/cards/usage-month.ts';
import { INITIALISING } from '../domain/log-phrases.ts';
import type { ErrorReporter } from '../platform/loop.ts';
import type { Service } from '../platform/service.ts';
import { AlertEvaluator } from './alerts/alert-evaluator.ts';
import { OutsideHeartbeat } from './alerts/outside-heartbeat.ts';
import { Cleaner } from './cleanup/cleaner.ts';
import type { EngineDeps, EngineSettings } from './engine-settings.ts';
import { Leadership } from './leadership.ts';
import { ConcurrencyController } from './limits/concurrency-controller.ts';
import { PauseLog } from './limits/pause-log.ts';
import { UsageJumpWatch } from './results/usage-jump-watch.ts';
import type { ConfigWatch } from './schedule/config-watch.ts';
import { Initialiser } from './schedule/initialiser.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { HistorySampler } from './stats/history-sampler.ts';
import { MonthStart, OrderFeeder } from './stops/order-feeder.ts';
import { TriggerFeeder } from './trigger-feeder.ts';
import { Reaper } from './work/reaper.ts';

export function leaderServices(
  settings: EngineSettings,
  deps: EngineDeps,
  watch: ConfigWatch,
  errors: ErrorReporter,
): Service[] {
  const { live, records, clock, log } = deps;
  const { heartbeatUrl } = settings.alerts;
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
  /** What services have in common; each takes what its type asks for. */
  const lead = (part: string) => ({
    ...deps,
    ...settings.polling,
    work: live.work,
    matcher: () => watch.matcher,
    calendar,
    fence: () => leadership.fence(),
    onError: errors.for(part),
  });
  return [
    leadership,
    new Scheduler({ ...lead('scheduler'), rings: live.rings }),
    new Initialiser({
      ...lead('initialiser'),
      onProgress: ({ status, reason, total, loaded, batch, batches }) =>
        log.info({ status, reason, total, loaded, batch, batches }, INITIALISING),
      onReconcile: (reason) => log.warn({ reason }, 'the schedule is compared with all cards'),
      onRepair: (repairs) => log.warn({ ...repairs }, 'schedule repaired'),
    }),
    new ConcurrencyController({
      ...lead('concurrency-controller'),
      ceiling: settings.gateway.maxConcurrency,
    }),
    new Cleaner({
      ...lead('cleaner'),
      ...settings.cleanup,
      cleanup: records.cleanup,
      changeMark: async () => (await live.coordination.initProgress()).changeMark || null,
    }),
    new TriggerFeeder({
      ...lead('trigger-feeder'),
      triggers: records.triggers,
      manual: live.manual,
    }),
    new Reaper(lead('reaper')),
    new OrderFeeder({
      ...lead('order-feeder'),
      monthStart: new MonthStart({ ...lead('month-start'), enabled: settings.stops.resumeAtMonthStart }),
    }),
    new HistorySampler(lead('history-sampler')),
    new PauseLog(lead('pause-log')),
    new UsageJumpWatch({
      ...lead('usage-jump-watch'),
      records: records.stopControl,
      jumpFactor: settings.usage.jumpFactor,
    }),
    new AlertEvaluator({
      ...lead('alert-evaluator'),
      ...settings.alerts,
      alerts: records.alerts,
      stops: records.stops,
      stopControl: records.stopControl,
    }),
    ...(heartbeatUrl === null
      ? []
      : [
          new OutsideHeartbeat({
            ...lead('outside-heartbeat'),
            ...settings.webhooks,
            runbookUrl: settings.alerts.runbookUrl,
            url: heartbeatUrl,
            intervalMs: settings.alerts.heartbeatIntervalMs,
          }),
        ]),
  ];
}
