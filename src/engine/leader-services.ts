// The services of an instance with role `scheduler`, in the order in which they start: the leader's lease first, then
// the services that work only while this instance leads. Built by engine.ts; each service has its own file.

import { MonthCalendar } from '../domain/cards/usage-month.ts';
import { INITIALISING } from '../domain/log-phrases.ts';
import type { Service } from '../platform/service.ts';
import type { InitProgress } from '../store/ports/live/coordination.ts';
import { AlertEvaluator } from './alerts/alert-evaluator.ts';
import { WebhookSender } from './alerts/webhook-sender.ts';
import { Cleaner } from './cleanup/cleaner.ts';
import { CleanupSchedule } from './cleanup/cleanup-schedule.ts';
import type { EngineDeps, EngineSettings } from './engine-settings.ts';
import type { ErrorReporter } from './error-reporter.ts';
import { Leadership } from './leadership.ts';
import { ConcurrencyController } from './limits/concurrency-controller.ts';
import { LimitKeeper } from './limits/limit-keeper.ts';
import { PauseLog } from './limits/pause-log.ts';
import { UsageJumpWatch } from './results/usage-jump-watch.ts';
import type { ConfigWatch } from './schedule/config-watch.ts';
import { Initialiser } from './schedule/initialiser.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { HistorySampler } from './stats/history-sampler.ts';
import { MonthStart } from './stops/month-start.ts';
import { OrderFeeder } from './stops/order-feeder.ts';
import { ResumeFiller } from './stops/resume-filler.ts';
import { UnwantedStops } from './stops/unwanted-stops.ts';
import { TriggerFeeder } from './trigger-feeder.ts';
import { Reaper } from './work/reaper.ts';

/** Services that the rest of the engine uses too. */
interface SharedParts {
  readonly configs: ConfigWatch;
  readonly errors: ErrorReporter;
}

export function leaderServices(
  settings: EngineSettings,
  deps: EngineDeps,
  { configs: watch, errors }: SharedParts,
): Service[] {
  const { live, records, gateway, clock, log, digest } = deps;
  const leadership = new Leadership({
    coordination: live.coordination,
    holder: settings.instanceId,
    clock,
    configsReadAt: () => watch.readAt,
    onChange: (leads, fence) =>
      log.info({ fence }, leads ? 'this instance leads' : 'this instance no longer leads'),
    onError: errors.for('leadership'),
  });
  const fence = () => leadership.fence();
  const configs = () => watch.configs;
  return [
    leadership,
    new Scheduler({
      rings: live.rings,
      configs,
      fence,
      clock,
      ...settings.polling,
      onError: errors.for('scheduler'),
    }),
    new Initialiser({
      live,
      records,
      gateway,
      configs,
      matcher: () => watch.matcher,
      fence,
      clock,
      ...settings.polling,
      onProgress: (progress) => log.info(progressFields(progress), INITIALISING),
      onReconcile: (reason) => log.warn({ reason }, 'all rings are compared with the cards'),
      onRepair: (repairs) => log.warn({ ...repairs }, 'ring members repaired'),
      onError: errors.for('initialiser'),
    }),
    new LimitKeeper({
      work: live.work,
      records: records.configs,
      fence,
      clock,
      onError: errors.for('limit-keeper'),
    }),
    new ConcurrencyController({
      live,
      fence,
      ...settings.polling,
      ceiling: settings.gateway.maxConcurrency,
      clock,
      log,
      digest,
      onError: errors.for('concurrency-controller'),
    }),
    new Cleaner({
      cleanup: records.cleanup,
      audit: deps.audit,
      ...settings.cleanup,
      schedule: new CleanupSchedule(settings.cleanup.schedule, settings.timeZone, clock.now()),
      changeMark: async () => (await live.coordination.initProgress()).changeMark || null,
      calendar: new MonthCalendar(settings.timeZone),
      fence,
      clock,
      log,
      onError: errors.for('cleaner'),
    }),
    new TriggerFeeder({
      triggers: records.triggers,
      work: live.work,
      manual: live.manual,
      rateLimits: settings.gateway.rateLimits ?? [],
      fence,
      clock,
      log,
      onError: errors.for('trigger-feeder'),
    }),
    new Reaper({
      live,
      records,
      calendar: new MonthCalendar(settings.timeZone),
      leaseMs: settings.polling.leaseMs,
      fence,
      clock,
      log,
      onError: errors.for('reaper'),
    }),
    new OrderFeeder({
      live,
      records,
      unwanted: new UnwantedStops({ stops: records.stops, clock, log }),
      monthStart: new MonthStart({
        enabled: settings.stops.resumeAtMonthStart,
        records,
        audit: deps.audit,
        calendar: new MonthCalendar(settings.timeZone),
        clock,
        log,
      }),
      ...settings.polling,
      fence,
      clock,
      onError: errors.for('order-feeder'),
    }),
    new ResumeFiller({ resumes: records.resumes, fence, clock, onError: errors.for('resume-filler') }),
    new HistorySampler({ live, fence, clock, onError: errors.for('history-sampler') }),
    new PauseLog({ work: live.work, fence, log, digest, clock, onError: errors.for('pause-log') }),
    new UsageJumpWatch({
      live,
      records: records.stopControl,
      fence,
      clock,
      log,
      onError: errors.for('usage-jump-watch'),
    }),
    new AlertEvaluator({
      live,
      alerts: records.alerts,
      stops: records.stops,
      stopControl: records.stopControl,
      conditions: deps.conditions,
      fence,
      ...settings.alerts,
      clock,
      log,
      onError: errors.for('alert-evaluator'),
    }),
    new WebhookSender({
      outbox: records.alerts.webhooks,
      guard: deps.guard,
      ...settings.webhooks,
      meter: deps.meter,
      fence,
      clock,
      random: deps.random,
      log,
      onError: errors.for('webhook-sender'),
    }),
  ];
}

function progressFields(progress: InitProgress): Record<string, unknown> {
  const { status, reason, total, loaded, batch, batches } = progress;
  return { status, reason, total, loaded, batch, batches };
}
