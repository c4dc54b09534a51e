// Whether an instance itself is healthy: the second witness before the gateway is blamed for a slow call. A shortage on our side
// (processor, Redis, PostgreSQL) makes every call look slow. Each instance measures continuously, and reports with its heartbeat
// (docs/decisions/0054-blame-needs-two-witnesses.md). Pure.

/** Measurements of one instance over the last seconds; each null while unknown. */
export interface OwnSide {
  /** How late its timers were on average, milliseconds. */
  readonly loopDelayMs: number | null;
  /** Processor use of its process, percent of one core. */
  readonly cpuPercent: number | null;
  /** Processor use of the whole machine, percent of all cores. */
  readonly machinePercent: number | null;
  /** The shortest of its last three heartbeats, milliseconds: all of them took at least that long. */
  readonly redisMs: number | null;
  /** The shorter of its last two queries of the record store's clock, milliseconds. */
  readonly databaseMs: number | null;
}

export interface OwnSideReport extends OwnSide {
  /** The figures of the last shortage, and how long ago they were measured; null: none yet. An older version does not say. */
  readonly lastShort?: (OwnSide & { readonly agoMs: number }) | null;
}

/** Polls are judged over the last ten to twenty seconds, so the calls of a shortage count for that long after its end. */
const SHORT_COUNTS_MS = 20_000;

/** What an instance measured while it made the calls that are judged now: its last shortage, if one was recent. */
export function judgedSide(report: OwnSideReport): OwnSide {
  const { lastShort } = report;
  const isOver = troublesOf(report).length === 0;
  return isOver && lastShort && lastShort.agoMs < SHORT_COUNTS_MS ? lastShort : report;
}

/** Timers of an idle process are a few milliseconds late. */
const LATE_LOOP_MS = 50;
const BUSY_PROCESS_PERCENT = 70;
const BUSY_MACHINE_PERCENT = 90;
/** A round trip takes a millisecond within a data centre, and some 50 between continents. */
const SLOW_REDIS_MS = 100;
const SLOW_DATABASE_MS = 250;

export type OwnTrouble = 'own_cpu' | 'redis_slow' | 'database_slow';

/** @returns the shortages. An instance without processor time measures everything else as too slow, so that is reported alone. */
export function troublesOf({ loopDelayMs, redisMs, databaseMs }: OwnSide): OwnTrouble[] {
  if (loopDelayMs !== null && loopDelayMs >= LATE_LOOP_MS) return ['own_cpu'];
  return [
    ...(redisMs !== null && redisMs >= SLOW_REDIS_MS ? (['redis_slow'] as const) : []),
    ...(databaseMs !== null && databaseMs >= SLOW_DATABASE_MS ? (['database_slow'] as const) : []),
  ];
}

/** Why timers are late, by a second figure; null: no figure agrees. */
export function busyWords({ cpuPercent, machinePercent }: OwnSide): string | null {
  if (cpuPercent !== null && cpuPercent >= BUSY_PROCESS_PERCENT)
    return `it uses ${Math.round(cpuPercent)} % of a core`;
  if (machinePercent !== null && machinePercent >= BUSY_MACHINE_PERCENT)
    return `the machine is ${Math.round(machinePercent)} % busy`;
  return null;
}

/** Whether an instance has little processor time left for more polls; null: unknown. */
export function isBusy({ cpuPercent }: Pick<OwnSide, 'cpuPercent'>): boolean | null {
  return cpuPercent === null ? null : cpuPercent >= BUSY_PROCESS_PERCENT;
}

interface Reporting {
  readonly roles: readonly string[];
  readonly ownSide?: OwnSideReport | null;
}

/** Whether poll durations say anything about the gateway: no worker made the judged calls during a shortage on our own side. */
export function isOwnSideWell(instances: readonly Reporting[]): boolean {
  return workersAre(instances, judgedSide);
}

/** Whether the calls of this second say anything about the gateway. */
export function isOwnSideWellNow(instances: readonly Reporting[]): boolean {
  return workersAre(instances, (report) => report);
}

function workersAre(instances: readonly Reporting[], sideOf: (report: OwnSideReport) => OwnSide): boolean {
  return instances.every(
    ({ roles, ownSide }) => !roles.includes('worker') || !ownSide || troublesOf(sideOf(ownSide)).length === 0,
  );
}
