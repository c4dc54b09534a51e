// Maintenance windows: times, planned ahead, in which task types are not polled, of the whole fleet or of one carrier. Pure; used by the
// operations, the engine and the health. A window of the whole fleet is in force as a pause (store/sql/schedule/configs.sql).
import type { CardMembership } from '../cards/card.ts';
import type { TaskType } from '../task-type.ts';
import { ConfigMatcher, type PollingConfig } from './polling-config.ts';

/** What a window covers. */
export interface MaintenanceScope {
  /** null: all task types. */
  readonly taskType: TaskType | null;
  /** null: the whole fleet. */
  readonly carrierId: number | null;
}

/** A window that is planned, or in force. */
export interface MaintenanceWindow extends MaintenanceScope {
  readonly id: number;
  readonly startsAtMs: number;
  /** The first instant after it. */
  readonly endsAtMs: number;
  readonly reason: string;
  /** The actor that planned it. */
  readonly by: string;
  /** When the audit trail got its begin; null: not yet. */
  readonly begunAtMs: number | null;
}

/** One minute to seven days; to stop polling for longer, disable the configs. */
export const MAINTENANCE_SECONDS_BOUNDS = { min: 60, max: 604_800 } as const;
/** A start further ahead is taken for a wrong year. */
const PLANNED_AHEAD_DAYS = 366;
/** The caller's clock may be behind the database's by so much. */
const LATE_MS = 60_000;
const DAY_MS = 86_400_000;
/** So long before its start every screen shows a window. */
const SHOWN_AHEAD_MS = 3_600_000;

/** @returns why a window cannot start then; null: it can. */
export function startProblem(startsAtMs: number, nowMs: number): string | null {
  const now = new Date(nowMs).toISOString();
  if (startsAtMs < nowMs - LATE_MS) return `must not be in the past: it is ${now}`;
  return startsAtMs > nowMs + PLANNED_AHEAD_DAYS * DAY_MS
    ? `must be at most ${PLANNED_AHEAD_DAYS} days ahead: it is ${now}`
    : null;
}

type Times = Pick<MaintenanceWindow, 'startsAtMs' | 'endsAtMs'>;

/**
 * @returns the first window that is in force at some time of the new one, and covers some of what that one covers; null: there is none.
 * All task types cover each, and the whole fleet covers each carrier.
 */
export function overlapping(
  planned: MaintenanceScope & Times,
  windows: readonly MaintenanceWindow[],
): MaintenanceWindow | null {
  const shared = <T>(a: T | null, b: T | null) => a === null || b === null || a === b;
  const found = windows.find(
    (one) =>
      one.startsAtMs < planned.endsAtMs &&
      planned.startsAtMs < one.endsAtMs &&
      shared(one.taskType, planned.taskType) &&
      shared(one.carrierId, planned.carrierId),
  );
  return found ?? null;
}

export function isInForce({ startsAtMs, endsAtMs }: Times, nowMs: number): boolean {
  return startsAtMs <= nowMs && nowMs < endsAtMs;
}

/** @returns the window in which cards of the carrier are not polled now; null: none. */
export function maintenanceOf(
  windows: readonly MaintenanceWindow[],
  taskType: TaskType,
  carrierId: number,
  nowMs: number,
): MaintenanceWindow | null {
  const found = windows.find(
    (one) =>
      (one.taskType ?? taskType) === taskType &&
      (one.carrierId ?? carrierId) === carrierId &&
      isInForce(one, nowMs),
  );
  return found ?? null;
}

/** @returns the windows that every screen shows: in force, or within an hour of their start; the first to start first. */
export function shownNow(windows: readonly MaintenanceWindow[], nowMs: number): MaintenanceWindow[] {
  return windows
    .filter(({ startsAtMs, endsAtMs }) => startsAtMs - SHOWN_AHEAD_MS <= nowMs && nowMs < endsAtMs)
    .sort((a, b) => a.startsAtMs - b.startsAtMs || a.id - b.id);
}

/** `carddata of carrier 2`, `all task types`. */
export function scopeWords({ taskType, carrierId }: MaintenanceScope): string {
  return `${taskType ?? 'all task types'}${carrierId === null ? '' : ` of carrier ${carrierId}`}`;
}

/** What the audit trail has of a window. */
export function traceOf({ taskType, carrierId, startsAtMs, endsAtMs, reason, by }: MaintenanceWindow) {
  return { taskType, carrierId, startsAt: new Date(startsAtMs), endsAt: new Date(endsAtMs), reason, by };
}

const PAUSE_ID = 'maintenance ';

/** The id of the pause that a window is. */
export function pauseOfWindow(id: number): string {
  return `${PAUSE_ID}${id}`;
}

/** @returns the id of the window that a pause is; null: it is none. */
export function windowOfPause(pauseId: string | null): number | null {
  return pauseId?.startsWith(PAUSE_ID) === true ? Number(pauseId.slice(PAUSE_ID.length)) : null;
}

/** `paused by the gateway for 1m more`, `paused by maintenance window 3 for 1m more (anna: new cables)`. */
export function pausedWords(
  { source, by, reason }: Readonly<Record<'source' | 'by' | 'reason', string>>,
  window: number | null,
  lasts: string,
): string {
  const why = reason === '' ? '' : `: ${reason}`;
  if (window !== null) return `paused by maintenance window ${window} ${lasts} (${by}${why})`;
  return `paused by ${source === 'gateway' ? 'the gateway' : by} ${lasts}${why}`;
}

/** A matcher under which cards of carriers in maintenance have a config that is disabled: they are not polled, and keep their rings. */
class MatcherInMaintenance extends ConfigMatcher {
  constructor(
    configs: ConfigMatcher['configs'],
    private readonly isCovered: (taskType: TaskType, carrierId: number) => boolean,
  ) {
    super(configs);
  }

  override match(taskType: TaskType, card: CardMembership): PollingConfig | null {
    const config = super.match(taskType, card);
    return config === null || !this.isCovered(taskType, card.carrierId) ? config : { ...config, status: 0 };
  }
}

/** @param windows of carriers, in force. */
export function matcherIn(windows: readonly MaintenanceWindow[], matcher: ConfigMatcher): ConfigMatcher {
  return new MatcherInMaintenance(matcher.configs, (taskType, carrierId) =>
    windows.some((one) => one.carrierId === carrierId && (one.taskType ?? taskType) === taskType),
  );
}
