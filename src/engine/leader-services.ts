// The services of an instance with role `scheduler`, in the order in which they start: the leader's lease first, then
// the services that work only while this instance leads. Built by engine.ts.

import { MonthCalendar } from '../domain/cards/usage-month.ts';
import { INITIALISING } from '../domain/log-phrases.ts';
import type { ErrorReporter } from '../platform/loop.ts';
import type { Service } from '../platform/service.ts';
import type { InitProgress } from '../store/ports/live/coordination.ts';
import { AlertEvaluator } from './alerts/alert-evaluator.ts';
import { WebhookSender } from './alerts/webhook-sender.ts';
import { Cleaner, CleanupSchedule } from './cleanup/cleaner.ts';
import type { EngineDeps, EngineSettings } from './engine-settings.ts';
import { type LeaderMeans, Leadership } from './leadership.ts';
import { ConcurrencyController } from './limits/concurrency-controller.ts';
import { LimitKeeper } from './limits/limit-keeper.ts';
import { PauseLog } from './limits/pause-log.ts';
import { UsageJumpWatch } from './results/usage-jump-watch.ts';
import type { ConfigWatch } from './schedule/config-watch.ts';
import { Initialiser } from './schedule/initialiser.ts';
import { Scheduler } from './schedule/scheduler.ts';
import { HistorySampler } from './stats/history-sampler.ts';
import { MonthStart, OrderFeeder, ResumeFiller } from './stops/order-feeder.ts';
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
  const lead = (part: string): LeaderMeans => ({
    fence: () => leadership.fence(),
    clock,
    onError: errors.for(part),
  });
  const configs = () => watch.configs;
  return [
    leadership,
    new Scheduler({ rings: live.rings, configs, ...settings.polling, ...lead('scheduler') }),
    new Initialiser({
      live,
      records,
      gateway,
      configs,
      matcher: () => watch.matcher,
      ...settings.polling,
      onProgress: (progress) => log.info(progressFields(progress), INITIALISING),
      onReconcile: (reason) => log.warn({ reason }, 'all rings are compared with the cards'),
      onRepair: (repairs) => log.warn({ ...repairs }, 'ring members repaired'),
      ...lead('initialiser'),
    }),
    new LimitKeeper({ work: live.work, records: records.configs, ...lead('limit-keeper') }),
    new ConcurrencyController({
      live,
      ...settings.polling,
      ceiling: settings.gateway.maxConcurrency,
      log,
      digest,
      ...lead('concurrency-controller'),
    }),
    new Cleaner({
      cleanup: records.cleanup,
      audit: deps.audit,
      ...settings.cleanup,
      schedule: new CleanupSchedule(settings.cleanup.schedule, settings.timeZone, clock.now()),
      changeMark: async () => (await live.coordination.initProgress()).changeMark || null,
      calendar: new MonthCalendar(settings.timeZone),
      log,
      ...lead('cleaner'),
    }),
    new TriggerFeeder({
      triggers: records.triggers,
      work: live.work,
      manual: live.manual,
      rateLimits: settings.gateway.rateLimits ?? [],
      log,
      ...lead('trigger-feeder'),
    }),
    new Reaper({
      live,
      records,
      calendar: new MonthCalendar(settings.timeZone),
      leaseMs: settings.polling.leaseMs,
      log,
      ...lead('reaper'),
    }),
    new OrderFeeder({
      live,
      records,
      monthStart: new MonthStart({
        enabled: settings.stops.resumeAtMonthStart,
        records,
        audit: deps.audit,
        calendar: new MonthCalendar(settings.timeZone),
        clock,
        log,
      }),
      ...settings.polling,
      log,
      ...lead('order-feeder'),
    }),
    new ResumeFiller({ resumes: records.resumes, ...lead('resume-filler') }),
    new HistorySampler({ live, ...lead('history-sampler') }),
    new PauseLog({ work: live.work, log, digest, ...lead('pause-log') }),
    new UsageJumpWatch({ live, records: records.stopControl, log, ...lead('usage-jump-watch') }),
    new AlertEvaluator({
      live,
      alerts: records.alerts,
      stops: records.stops,
      stopControl: records.stopControl,
      conditions: deps.conditions,
      ...settings.alerts,
      log,
      ...lead('alert-evaluator'),
    }),
    new WebhookSender({
      outbox: records.alerts.webhooks,
      guard: deps.guard,
      ...settings.webhooks,
      meter: deps.meter,
      random: deps.random,
      log,
      ...lead('webhook-sender'),
    }),
  ];
}

function progressFields(progress: InitProgress): Record<string, unknown> {
  const { status, reason, total, loaded, batch, batches } = progress;
  return { status, reason, total, loaded, batch, batches };
}
