// Whether an instance itself is well: the second witness before a slow call is the gateway's fault. What is short on our side (processor,
// Redis, PostgreSQL) makes every call look slow. Measured by each instance all the time, reported with its heartbeat
// (docs/decisions/0054-blame-needs-two-witnesses.md). Pure.

/** What one instance measured over the last seconds; each null until it is known. */
export interface OwnSide {
  /** How late its timers were on average, milliseconds. */
  readonly loopDelayMs: number | null;
  /** Of one core, what its process used. */
  readonly cpuPercent: number | null;
  /** Of all cores, what the whole machine used. */
  readonly machinePercent: number | null;
  /** The shortest of its last three heartbeats: all of them took as long, milliseconds. */
  readonly redisMs: number | null;
  /** The shorter of its last two looks at the clock of the record store, milliseconds. */
  readonly databaseMs: number | null;
}

/** Timers of an idle process are a few milliseconds late. */
const LATE_LOOP_MS = 50;
const BUSY_PROCESS_PERCENT = 70;
const BUSY_MACHINE_PERCENT = 90;
/** A round trip takes a millisecond within a data centre, and some 50 between continents. */
const SLOW_REDIS_MS = 100;
const SLOW_DATABASE_MS = 250;

export type OwnTrouble = 'own_cpu' | 'redis_slow' | 'database_slow';

/**
 * @returns what is not well. An instance without processor time measures everything else too slow, so that comes alone.
 */
export function troublesOf({ loopDelayMs, redisMs, databaseMs }: OwnSide): OwnTrouble[] {
  if (loopDelayMs !== null && loopDelayMs >= LATE_LOOP_MS) return ['own_cpu'];
  return [
    ...(redisMs !== null && redisMs >= SLOW_REDIS_MS ? (['redis_slow'] as const) : []),
    ...(databaseMs !== null && databaseMs >= SLOW_DATABASE_MS ? (['database_slow'] as const) : []),
  ];
}

/** Why timers are late, by a second figure; null: none agrees. */
export function busyWords({ cpuPercent, machinePercent }: OwnSide): string | null {
  if (cpuPercent !== null && cpuPercent >= BUSY_PROCESS_PERCENT)
    return `it uses ${Math.round(cpuPercent)} % of a core`;
  if (machinePercent !== null && machinePercent >= BUSY_MACHINE_PERCENT)
    return `the machine is busy to ${Math.round(machinePercent)} %`;
  return null;
}

/** Whether an instance has little processor time left to poll more; null: it does not say. */
export function isBusy({ cpuPercent }: Pick<OwnSide, 'cpuPercent'>): boolean | null {
  return cpuPercent === null ? null : cpuPercent >= BUSY_PROCESS_PERCENT;
}

interface Reporting {
  readonly roles: readonly string[];
  readonly ownSide?: OwnSide | null;
}

/** Whether what polls take says anything about the gateway: no worker measures trouble on our own side. */
export function isOwnSideWell(instances: readonly Reporting[]): boolean {
  return instances.every(
    ({ roles, ownSide }) => !roles.includes('worker') || !ownSide || troublesOf(ownSide).length === 0,
  );
}
