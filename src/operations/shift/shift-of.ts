// Makes the report of a shift from facts: which reasons were one, what imports changed together, how much was polled, and from
// when on all of it is known. Used by shift.ts. Pure.
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import { type CleanupConfig, type CleanupTarget, cleanupBounds } from '../../domain/cleanup.ts';
import { dated, dateOf } from '../../domain/date-of.ts';
import { percentDown, sum } from '../../domain/numbers.ts';
import { type MaintenanceWindow, scopeWords } from '../../domain/schedule/maintenance.ts';
import { type CarrierSlots, punctualityOf, sumOfSlotCounts } from '../../domain/stats/carrier-slots.ts';
import type { HistorySample } from '../../domain/stats/history.ts';
import type { StopMode } from '../../domain/stops/stop.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { spanWords } from '../../domain/words.ts';
import type { HealthReason } from '../../health/reason.ts';
import type { SilenceReport } from '../../resources/alerts.ts';
import type { PauseReport } from '../../resources/limits.ts';
import type { ShiftReport } from '../../resources/report.ts';
import type { AlertHistoryItem } from '../../store/ports/records/alert-records.ts';
import type { AuditRecord } from '../../store/ports/records/audit-records.ts';
import type { ResumeRun } from '../../store/ports/records/resume-records.ts';
import type {
  AlertsWithin,
  CarrierStops,
  ChangesWithin,
  StopsWithin,
  Within,
} from '../../store/ports/records/shift-records.ts';
import type { StopControl } from '../../store/ports/records/stop-records.ts';

/** What only the live store knows. */
interface LiveFacts {
  /** Of each minute, oldest first; they may begin before the time. */
  readonly samples: readonly HistorySample[];
  readonly pauses: readonly PauseReport[];
  readonly maintenance: readonly MaintenanceWindow[];
  readonly reasons: readonly HealthReason[];
  /** Of the time, as far as they are kept. */
  readonly carrierSlots: Readonly<Record<TaskType, CarrierSlots>>;
}

export interface ShiftFacts {
  readonly within: Within;
  readonly nowMs: number;
  readonly alerts: AlertsWithin;
  readonly imports: ReadonlyArray<Pick<AuditRecord, 'action' | 'name' | 'atMs' | 'after'>>;
  readonly changes: ChangesWithin;
  readonly stops: StopsWithin;
  readonly live: LiveFacts | { readonly unknown: string };
  readonly firing: {
    readonly items: ReadonlyArray<Pick<AlertHistoryItem, 'acknowledgedBy'>>;
    readonly total: number;
  };
  readonly control: Pick<StopControl, 'setMode' | 'held' | 'observed' | 'released'>;
  readonly stopModeOfSettings: StopMode;
  readonly runs: ReadonlyArray<Pick<ResumeRun, 'id' | 'by' | 'reason' | 'total' | 'waiting'>>;
  readonly silences: readonly SilenceReport[];
  readonly retention: readonly CleanupConfig[];
  readonly calendar: MonthCalendar;
}

type Reason = ShiftReport['reasons'][number];

export function shiftOf(facts: ShiftFacts): ShiftReport {
  const { within, nowMs, alerts, stops } = facts;
  const live = 'unknown' in facts.live ? null : facts.live;
  const samples = (live?.samples ?? []).filter(({ atMs }) => atMs > within.fromMs && atMs <= within.toMs);
  return {
    since: new Date(within.fromMs),
    until: new Date(within.toMs),
    generatedAt: new Date(nowMs),
    unknown: 'unknown' in facts.live ? facts.live.unknown : null,
    keptFrom: keptFrom(facts, samples),
    reasons: reasonsOf(facts, live, samples),
    alerts: {
      fired: alerts.fired,
      resolved: alerts.resolved,
      open: alerts.open,
      items: alerts.items.map(
        ({
          id,
          ruleName: rule,
          ruleId,
          taskType,
          cause,
          earlierCauses,
          firedAtMs,
          resolvedAtMs,
          acknowledgedBy,
        }) => ({
          ...{ id, rule, ruleId, taskType, severity: cause?.severity ?? null },
          cause: cause && [...earlierCauses, cause].map(({ text }) => text).join('; then: '),
          ...dated({ firedAtMs, resolvedAtMs }),
          durationSeconds: Math.round(Math.max(0, (resolvedAtMs ?? within.toMs) - firedAtMs) / 1000),
          acknowledgedBy,
        }),
      ),
    },
    changes: {
      total: facts.changes.total,
      imports: importsOf(facts.imports),
      groups: facts.changes.groups.map(dated),
    },
    stops: { ...totals(stops.carriers), isCut: stops.isCut, carriers: stops.carriers },
    polls:
      live === null || samples.length === 0
        ? []
        : TASK_TYPES.map((taskType) => pollsOf(taskType, samples, live.carrierSlots[taskType])),
    open: openNow(facts, live),
  };
}

/** Alerts of one cause that follow each other within this time had one reason. */
const ONE_REASON_MS = 60_000;
const SAMPLE_MS = 60_000;
/** One sample that is late is no gap. */
const GAP_MS = 3 * SAMPLE_MS;

function reasonsOf(
  { within, nowMs, alerts }: ShiftFacts,
  live: LiveFacts | null,
  samples: readonly HistorySample[],
) {
  const found: Reason[] = [];
  for (const { id, ruleId, taskType, cause, firedAtMs, resolvedAtMs } of [...alerts.items].sort(
    (a, b) => a.firedAtMs - b.firedAtMs,
  )) {
    if (cause === null) continue;
    const isOutage = ruleId === 0;
    const same = found.findLast(
      (one) => one.source === 'alert' && one.code === cause.code && touches(one, firedAtMs),
    );
    if (same !== undefined && !isOutage) {
      const endedAt = laterEnd(same.endedAt, dateOf(resolvedAtMs));
      const taskTypes = inOrder([...same.taskTypes, taskType]);
      found[found.indexOf(same)] = { ...same, endedAt, taskTypes, alerts: [...same.alerts, id] };
      continue;
    }
    found.push({
      source: isOutage ? 'outage' : 'alert',
      ...{
        code: cause.code,
        severity: cause.severity,
        taskTypes: isOutage ? [] : [taskType],
        text: cause.text,
      },
      ...{ beganAt: new Date(firedAtMs), endedAt: dateOf(resolvedAtMs), alerts: [id] },
    });
  }
  const present = (live?.reasons ?? []).filter(
    // Of a reason that has just begun the health log does not know when.
    ({ causedBy, since }) => causedBy === null && (since?.getTime() ?? nowMs) < within.toMs + SAMPLE_MS,
  );
  for (const { code, severity, taskType, text, since } of present) {
    const same = found.find((one) => one.code === code && one.endedAt === null && one.source === 'alert');
    const taskTypes = taskType === null ? [] : [taskType];
    if (same === undefined) {
      const alertsOfIt: number[] = [];
      found.push({
        source: 'health',
        code,
        severity,
        taskTypes,
        text,
        beganAt: since,
        endedAt: null,
        alerts: alertsOfIt,
      });
    } else {
      found[found.indexOf(same)] = {
        ...same,
        taskTypes: inOrder([...same.taskTypes, ...taskTypes]),
        beganAt: earlier(same.beganAt, since),
      };
    }
  }
  return [...found, ...gapsOf(within, samples)].sort(
    (a, b) => (a.beganAt?.getTime() ?? nowMs) - (b.beganAt?.getTime() ?? nowMs),
  );
}

function touches({ endedAt }: Reason, atMs: number): boolean {
  return endedAt === null || atMs - endedAt.getTime() <= ONE_REASON_MS;
}

function laterEnd(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return null;
  return a > b ? a : b;
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function inOrder(types: readonly TaskType[]): TaskType[] {
  return TASK_TYPES.filter((type) => types.includes(type));
}

/** Times without a sample between samples, and up to the end: no instance led, or the live store was away. */
function gapsOf({ toMs }: Within, samples: readonly HistorySample[]): Reason[] {
  const ends = [...samples.slice(1).map(({ atMs }) => atMs), toMs];
  return samples.flatMap(({ atMs }, index) => {
    const nextMs = ends[index] ?? toMs;
    if (nextMs - atMs < GAP_MS) return [];
    const isLast = index === samples.length - 1;
    return {
      ...{ source: 'samples' as const, code: 'not_measured', severity: 'alert' as const, taskTypes: [] },
      text: `nothing was measured for ${spanWords((nextMs - atMs) / 1000)}: no instance led, or Redis was away`,
      beganAt: new Date(atMs),
      // The last one ends with the report, which does not say that it is over.
      endedAt: isLast ? null : new Date(nextMs),
      alerts: [],
    };
  });
}

function importsOf(entries: ShiftFacts['imports']): ShiftReport['changes']['imports'] {
  if (entries.length === 0) return null;
  const total = (name: string) => sum(entries.map(({ after }) => numberIn(after, name)));
  return {
    count: entries.length,
    failed: entries.filter(({ action }) => action.endsWith('.failed')).length,
    inserted: total('inserted'),
    updated: total('updated'),
    rejected: total('rejected'),
    overPackage: total('over_package'),
    actors: [...new Set(entries.map(({ name }) => name))].sort(),
    lastAt: new Date(Math.max(...entries.map(({ atMs }) => atMs))),
  };
}

function numberIn(values: unknown, name: string): number {
  const value = typeof values === 'object' && values !== null ? Object.entries(values) : [];
  const [, number] = value.find(([key]) => key === name) ?? [];
  return typeof number === 'number' ? number : 0;
}

function totals(carriers: readonly CarrierStops[]) {
  const of = (name: Exclude<keyof CarrierStops, 'carrierId'>) => sum(carriers.map((one) => one[name]));
  return {
    ...{ done: of('done'), requested: of('requested'), held: of('held') },
    ...{ observed: of('observed'), dismissed: of('dismissed'), resumed: of('resumed') },
  };
}

function pollsOf(
  taskType: TaskType,
  samples: readonly HistorySample[],
  slots: CarrierSlots,
): ShiftReport['polls'][number] {
  const perMinute = (name: 'ratePerSecond' | 'failedPerSecond') =>
    Math.round(sum(samples.map(({ tasks }) => ((tasks[taskType][name] ?? 0) * SAMPLE_MS) / 1000)));
  const [polls, failed] = [perMinute('ratePerSecond'), perMinute('failedPerSecond')];
  const successRate = polls === 0 ? null : percentDown((100 * Math.max(0, polls - failed)) / polls);
  const onTimePercent = punctualityOf(sumOfSlotCounts(slots.values()))?.percent ?? null;
  return { taskType, polls, failed, successRate, onTimePercent };
}

function keptFrom(facts: ShiftFacts, samples: readonly HistorySample[]): ShiftReport['keptFrom'] {
  const { within, retention, nowMs, calendar, changes } = facts;
  const of = (target: CleanupTarget): number | null => {
    const config = retention.find((one) => one.target === target);
    if (config?.enabled !== true) return null;
    const { cutoffMs, firstKeptMonth } = cleanupBounds(target, config.retentionDays, nowMs, calendar);
    // Stops of this month stay, whatever the retention.
    return target === 'card_stops' && calendar.monthOf(within.fromMs) >= firstKeptMonth ? null : cutoffMs;
  };
  const from = (...known: ReadonlyArray<number | null>) => {
    const latestMs = Math.max(...known.map((ms) => ms ?? Number.NEGATIVE_INFINITY));
    return latestMs > within.fromMs ? new Date(Math.min(latestMs, within.toMs)) : null;
  };
  const [first] = samples;
  const pollsMs = first === undefined ? within.toMs : first.atMs - SAMPLE_MS;
  return {
    alerts: from(of('alert_history')),
    changes: from(of('audit'), changes.countedFromMs),
    stops: from(of('card_stops')),
    polls: pollsMs - within.fromMs < GAP_MS && first !== undefined ? null : from(pollsMs),
  };
}

function openNow(facts: ShiftFacts, live: LiveFacts | null): ShiftReport['open'] {
  const { firing, control, runs, silences } = facts;
  const pauses = live?.pauses ?? [];
  const ends = [
    ...pauses
      // A window ends once, not once for each task type.
      .filter(({ maintenanceId }) => maintenanceId === null)
      .map(({ taskType, by, reason, since, until }) => ({
        ...{ kind: 'pause' as const, what: taskType, by, reason, since, until },
      })),
    ...(live?.maintenance ?? []).map(({ id, by, reason, startsAtMs, endsAtMs, ...scope }) => ({
      ...{ kind: 'maintenance' as const, what: `maintenance ${id} of ${scopeWords(scope)}`, by, reason },
      ...{ since: new Date(startsAtMs), until: new Date(endsAtMs) },
    })),
    ...silences.map(({ id, ruleId, ruleType, taskType, by, reason, since, until }) => ({
      kind: 'silence' as const,
      what: [`silence ${id}:`, ruleId === null ? null : `rule ${ruleId}`, ruleType, taskType]
        .filter((word) => word !== null)
        .join(' '),
      ...{ by, reason, since, until },
    })),
  ];
  return {
    alerts: firing.total,
    acknowledged: firing.items.filter(({ acknowledgedBy }) => acknowledgedBy !== null).length,
    stopMode: control.setMode?.mode ?? facts.stopModeOfSettings,
    ...{ heldStops: control.held, observedStops: control.observed, releasedStops: control.released },
    resumes: runs.map(({ id, by, reason, total, waiting }) => ({ id, by, reason, total, waiting })),
    pauses,
    ends: ends.sort((a, b) => a.until.getTime() - b.until.getTime()),
  };
}
