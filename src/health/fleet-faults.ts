// Faults of the parts of a fleet: instances that cannot use the database, that could not reload their configuration and run with
// the previous one, that cannot write their logs, or that differ in time zone or mode of stops; and different clocks of Redis,
// PostgreSQL and instances. Redis dates schedule and leases; PostgreSQL dates readings when the clocks differ. Used by the judge
// and by the doctor.
import { groupBy } from '../domain/group-by.ts';
import { countWords, spanWords } from '../domain/words.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { LockHolder, RecordStore } from '../store/ports/records/record-store.ts';
import { holderWords, type LockedTable, lockedCauses } from './locked-tables.ts';
import { ownSideCauses } from './own-side-reasons.ts';
import type { Cause } from './reason.ts';
import type { StopFigures } from './stop-figures.ts';

export interface FleetState {
  /** The live instances. */
  readonly instances: readonly InstanceInfo[];
  readonly initStuck: boolean;
  /** The sessions that block the initialisation; null: unknown. */
  readonly lockHolders: readonly LockHolder[] | null;
  /** Tables for whose locks statements of daemons wait. */
  readonly locked: readonly LockedTable[];
  /** Why the reporting instance is not among the live ones; null: it is live, or not an instance. */
  readonly silence: string | null;
  /** null: unknown. */
  readonly stops: Pick<StopFigures, 'setMode'> | null;
  /** null: unknown. */
  readonly clockGap: ClockGap | null;
  /** By the clock of Redis; undefined: unknown. */
  readonly clocksDifferSinceMs: number | undefined;
  /** Polls are not made as configured. */
  readonly isLate: boolean;
  readonly nowMs: number;
}

export function fleetFaults({ instances, silence, initStuck, ...state }: FleetState): Cause[] {
  const isScheduled = instances.some(({ roles }) => roles.includes('scheduler'));
  const causes = [...lockedCauses(state.locked), ...outageCauses(instances)];
  if (!instances.some(({ roles }) => roles.includes('worker'))) {
    causes.push({ code: 'no_worker', severity: 'alert', ...noWorkerWords(silence) });
  } else if (!isScheduled) {
    const text = 'no instance leads: none with the role scheduler is alive, so no card comes due';
    const command = 'cardpoll daemon --roles scheduler';
    causes.push({ code: 'no_scheduler', severity: 'alert', text, command });
  }
  if (initStuck) causes.push(initStuckCause(!isScheduled, state.lockHolders));
  causes.push(...modeCauses(instances, state.stops), ...zoneCauses(instances), ...clockCauses(state));
  causes.push(...instanceClockCauses(instances, state.clockGap));
  causes.push(...ownSideCauses(instances, state.isLate), ...goneCauses(instances));
  causes.push(
    ...reloadCauses(instances),
    ...logCauses(instances),
    ...failingCauses(instances),
    ...putBackCauses(instances),
    ...certificateCauses(instances, state.nowMs),
  );
  return causes;
}

/** Whether all instances that may lead are cut off: an instance that only cannot read cards or write results can still lead. */
export function isLeaderless(instances: readonly InstanceInfo[]): boolean {
  const candidates = instances.filter(({ roles }) => roles.includes('scheduler'));
  const cannotLead = ({ databaseOutage }: InstanceInfo) =>
    databaseOutage !== null && databaseOutage.part === undefined;
  return candidates.length > 0 && candidates.every(cannotLead);
}

const START_MS = 60_000;

export function isStarting(
  instances: ReadonlyArray<Pick<InstanceInfo, 'startedAtMs'>>,
  nowMs: number,
): boolean {
  return instances.length > 0 && instances.every(({ startedAtMs }) => nowMs - startedAtMs < START_MS);
}

/** Without the database an instance cannot lead, and polls only cached cards. Dated by the longest outage. */
function outageCauses(instances: readonly InstanceInfo[]): Cause[] {
  const cutOff = instances.filter(({ databaseOutage }) => databaseOutage !== null);
  const [longest] = cutOff
    .flatMap(({ databaseOutage }) => databaseOutage ?? [])
    .sort((a, b) => a.sinceMs - b.sinceMs);
  if (longest === undefined) return [];
  const workers = instances.filter(({ roles }) => roles.includes('worker'));
  const isResultless = workers.length > 0 && workers.every((worker) => cutOff.includes(worker));
  const isUnled = isLeaderless(instances);
  const who = `${cutOff.length} of ${instances.length} instances ${cannotOf(cutOff)}`;
  const ids = cutOff.map(({ instanceId }) => instanceId).join(', ');
  const what = isUnled
    ? `no instance leads: ${who}`
    : isResultless
      ? `no results are stored: ${who}`
      : `${who} (${ids})`;
  const severity = isUnled || isResultless ? 'alert' : 'warning';
  const text = `${what}: ${longest.reason}`;
  const { sinceMs } = longest;
  return [{ code: 'database_outage', severity, text, command: 'cardpoll doctor', sinceMs }];
}

function cannotOf(cutOff: readonly InstanceInfo[]): string {
  const isAll = (part: string) => cutOff.every(({ databaseOutage }) => databaseOutage?.part === part);
  if (isAll('cards')) return 'cannot read cards from the database';
  return isAll('results') ? 'cannot store results in the database' : 'cannot use the database';
}

/**
 * States that no worker is alive, and the command to run.
 *
 * @param silence why the reporting instance is not among the live ones; null: it is live, or not an instance
 */
export function noWorkerWords(silence: string | null): { readonly text: string; readonly command: string } {
  if (silence !== null)
    return { text: `no instance is known to poll: ${silence}`, command: 'cardpoll doctor' };
  const text = 'no instance polls: none with the role worker is alive';
  return { text, command: 'cardpoll daemon --roles worker' };
}

/** @param leaderless no instance with the role scheduler is alive */
function initStuckCause(leaderless: boolean, holders: readonly LockHolder[] | null): Cause {
  const [why, command] = leaderless
    ? ['no instance with the role scheduler is alive', 'cardpoll daemon --roles scheduler']
    : lockWords(holders);
  const text = `the initialisation makes no progress: ${why}`;
  return { code: 'init_stuck', severity: 'alert', text, command };
}

function lockWords(holders: readonly LockHolder[] | null): [string, string | null] {
  if (holders === null) return ['whether it waits for a lock is not known', 'cardpoll doctor'];
  const [first] = holders;
  if (first === undefined) {
    return [
      'it waits for no lock of the database; worker.log of the leader says what fails',
      'cardpoll doctor',
    ];
  }
  const more = holders.length === 1 ? '' : ` (${countWords(holders.length - 1, 'more session')} after it)`;
  // No command of cardpoll ends other programs' sessions.
  return [`it waits for the table ${first.table}, which ${holderWords(first)}${more}`, null];
}

/** The log describes a configuration with many mistakes in full. */
const MAX_REASON_CHARS = 200;

/** One reason for all instances: they usually read copies of one file. */
export function reloadCauses(instances: readonly InstanceInfo[]): Cause[] {
  const failures = instances.flatMap(({ instanceId, reloadFailure }) =>
    reloadFailure === null ? [] : [{ instanceId, ...reloadFailure }],
  );
  const [first] = failures.sort((a, b) => a.sinceMs - b.sinceMs);
  if (first === undefined) return [];
  const who = whoOf(failures, instances);
  const reason = first.reason.replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARS);
  return [
    {
      code: 'reload_failed',
      severity: 'warning',
      text: `${who} could not reload the configuration, and the former one is in force: ${reason}`,
      command: 'cardpoll doctor',
      sinceMs: first.sinceMs,
    },
  ];
}

/** One reason for all instances: they may have one disk. */
export function logCauses(instances: readonly InstanceInfo[]): Cause[] {
  const troubled = instances.filter(({ logTrouble }) => logTrouble !== null);
  const [first] = troubled;
  if (first === undefined) return [];
  const who = whoOf(troubled, instances);
  const text = `${who} cannot write log lines, which wait and then are dropped: ${first.logTrouble}`;
  return [{ code: 'logs_not_written', severity: 'warning', text, command: 'cardpoll doctor' }];
}

/** One reason for all instances, with the part that has failed longest: a fault usually affects all of them. */
export function failingCauses(instances: readonly InstanceInfo[]): Cause[] {
  const failing = instances.flatMap(({ instanceId, failing }) =>
    failing ? [{ instanceId, ...failing }] : [],
  );
  const [first] = failing.sort((a, b) => a.sinceMs - b.sinceMs);
  if (first === undefined) return [];
  const reason = first.reason.replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARS);
  const text = `${whoOf(failing, instances)}: the part ${first.part} fails: ${reason}`;
  return [
    { code: 'part_failing', severity: 'alert', text, command: 'cardpoll doctor', sinceMs: first.sinceMs },
  ];
}

/** A warning, because the others continue. If none polls, that is a separate reason. */
export function goneCauses(instances: readonly InstanceInfo[]): Cause[] {
  const gone = instances.flatMap(({ gone = [] }) => gone).sort((a, b) => a.atMs - b.atMs);
  const [first] = gone;
  if (first === undefined) return [];
  const ids = gone.slice(0, INSTANCES_NAMED).map(({ instanceId }) => instanceId);
  if (gone.length > ids.length) ids.push(`${gone.length - ids.length} more`);
  const text = `${ids.join(', ')} ended without a shutdown and did not come back: killed, frozen, or cut off from Redis`;
  return [
    {
      code: 'instance_gone',
      severity: 'warning',
      text,
      command: 'cardpoll stats instances',
      sinceMs: first.atMs,
    },
  ];
}

const CERTIFICATE_WARNING_MS = 14 * 86_400_000;

/** A warning in advance. After the expiry calls fail, which is a separate reason. */
export function certificateCauses(
  instances: ReadonlyArray<Pick<InstanceInfo, 'certificateEndsMs'>>,
  nowMs: number,
): Cause[] {
  const [endsMs] = instances.flatMap((one) => one.certificateEndsMs ?? []).sort((a, b) => a - b);
  if (endsMs === undefined || endsMs <= nowMs || endsMs - nowMs > CERTIFICATE_WARNING_MS) return [];
  const when = new Date(endsMs).toISOString();
  const text = `the certificate of the gateway expires in ${spanWords((endsMs - nowMs) / 1000)}, on ${when}: ask the operator of the gateway for a new one`;
  return [{ code: 'certificate_expires', severity: 'warning', text, command: 'cardpoll doctor' }];
}

/** A failover or a restored copy changes a limit and a pause of each task type, at most. */
const MOST_PUT_BACK_SHOWN = 3;

export function putBackCauses(instances: readonly InstanceInfo[]): Cause[] {
  const all = instances.flatMap(({ putBack = [] }) => putBack).sort((a, b) => b.atMs - a.atMs);
  const [oldest] = all.slice(-1);
  if (oldest === undefined) return [];
  const shown = all.slice(0, MOST_PUT_BACK_SHOWN).map(({ text }) => text);
  if (all.length > shown.length) shown.push(`and ${all.length - shown.length} more`);
  const text = `${shown.join('; ')}: Redis may have failed over, been restored or been changed by hand`;
  return [
    {
      code: 'put_back',
      severity: 'warning',
      text,
      command: 'cardpoll audit --since 1h',
      sinceMs: oldest.atMs,
    },
  ];
}

function whoOf(
  [first, ...more]: ReadonlyArray<Pick<InstanceInfo, 'instanceId'>>,
  { length }: readonly InstanceInfo[],
): string {
  return more.length === 0 ? `${first?.instanceId}` : `${more.length + 1} of ${length} instances`;
}

const INSTANCES_NAMED = 3;

/** Each instance takes the month of a reading from its own time zone; the leader also uses it when it resumes cards monthly. */
export function zoneCauses(instances: readonly InstanceInfo[]): Cause[] {
  const known = instances.filter(({ timeZone }) => timeZone !== null);
  const groups = groupBy(known, ({ timeZone }) => canonicalZone(String(timeZone)));
  if (groups.size < 2) return [];
  const zones = [...groups.values()].sort((a, b) => b.length - a.length);
  const said = zones.map((group) => `${group[0].timeZone} (${namesOf(group)})`).join(', ');
  return [
    {
      code: 'time_zones_differ',
      severity: 'warning',
      text:
        `instances have different time zones: ${said}: near the end of a month they count usage in different months; ` +
        'set time_zone alike and restart the instances with the wrong one',
      command: 'cardpoll stats instances',
    },
  ];
}

/** Each worker stops cards or not by its own setting, until an operator sets the mode for all. */
function modeCauses(instances: readonly InstanceInfo[], stops: Pick<StopFigures, 'setMode'> | null): Cause[] {
  if (stops === null || stops.setMode !== null) return [];
  const workers = instances.filter(({ roles, stopMode }) => roles.includes('worker') && stopMode !== null);
  const enforce = workers.filter(({ stopMode }) => stopMode === 'enforce');
  const observe = workers.filter(({ stopMode }) => stopMode === 'observe');
  if (enforce.length === 0 || observe.length === 0) return [];
  const modes = `enforce (${namesOf(enforce)}), observe (${namesOf(observe)})`;
  const text =
    'some workers stop cards over their package and others do not, because stops.mode differs: ' +
    `${modes}; set the mode for the whole fleet`;
  const command = "cardpoll stops mode observe --reason 'the settings differ'";
  return [{ code: 'stop_modes_differ', severity: 'warning', text, command }];
}

/** One name for all names of a zone, such as UTC and Etc/UTC. A zone that this machine does not know keeps its name. */
function canonicalZone(zone: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return zone;
  }
}

function namesOf(instances: readonly InstanceInfo[]): string {
  const more = instances.length - INSTANCES_NAMED;
  const named = instances
    .slice(0, INSTANCES_NAMED)
    .map(({ instanceId }) => instanceId)
    .join(', ');
  return more > 0 ? `${named} and ${more} more` : named;
}

export type ClockGap = NonNullable<Awaited<ReturnType<typeof readClockGap>>>;

/** Smaller differences are harmless; above an hour an instance of release 0.2.0 counts usage in wrong months. */
const CLOCK_GAP_MS = { warningAbove: 10_000, alertAbove: 3_600_000 };

/** @returns null for an embedded live store, which has no separate clock. */
export async function readClockGap(live: Pick<LiveStore, 'now' | 'kind'>, records: Pick<RecordStore, 'now'>) {
  if (live.kind === 'embedded') return null;
  // Redis is queried before and after PostgreSQL, so that a slow answer does not look like a gap.
  const liveMs = await live.now();
  const recordsMs = await records.now();
  // The live store's clock minus the record store's, at least; 0 while they may agree.
  const aheadMs = Math.max(0, liveMs - recordsMs) + Math.min(0, (await live.now()) - recordsMs);
  return { liveMs, recordsMs, aheadMs };
}

/** By the clock of PostgreSQL, if it is known: when the clock of Redis is wrong, those of the instances are right. */
function instanceClockCauses(instances: readonly InstanceInfo[], gap: ClockGap | null): Cause[] {
  const off = instances
    .flatMap(({ instanceId, clockAheadMs: ownMs }) =>
      ownMs === null ? [] : [{ instanceId, aheadMs: ownMs + (gap?.aheadMs ?? 0) }],
    )
    .filter(({ aheadMs }) => Math.abs(aheadMs) > CLOCK_GAP_MS.warningAbove)
    .sort((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs));
  const [worst] = off;
  if (worst === undefined) return [];
  const most = off.length === 1 ? '' : 'up to ';
  const text =
    `the clock of ${whoOf(off, instances)} is ${most}${differenceWords(worst.aheadMs)} those of the stores: ` +
    'log lines, audit entries and webhooks have wrong times, and tokens expire at wrong times';
  return [{ code: 'instance_clocks_differ', severity: 'warning', text, command: 'cardpoll stats instances' }];
}

/** The clock of Redis dated its start, so the gap is subtracted to show the time of PostgreSQL. */
function clockCauses({
  clockGap: gap,
  clocksDifferSinceMs: noted,
}: Pick<FleetState, 'clockGap' | 'clocksDifferSinceMs'>): Cause[] {
  const gapMs = Math.abs(gap?.aheadMs ?? 0);
  if (gap === null || gapMs <= CLOCK_GAP_MS.warningAbove) return [];
  const severity = gapMs > CLOCK_GAP_MS.alertAbove ? 'alert' : 'warning';
  const cause = { code: 'clocks_differ', severity, text: gapWords(gap), command: 'cardpoll doctor' } as const;
  return [noted === undefined ? cause : { ...cause, sinceMs: noted - gap.aheadMs }];
}

function gapWords({ liveMs, recordsMs, aheadMs }: ClockGap): string {
  return (
    `the clock of Redis (${new Date(liveMs).toISOString()}) is ${differenceWords(aheadMs)} that of PostgreSQL ` +
    `(${new Date(recordsMs).toISOString()}): usage and stops follow PostgreSQL, due times, leases and pauses Redis`
  );
}

function differenceWords(aheadMs: number): string {
  return `${spanWords(Math.abs(aheadMs) / 1000)} ${aheadMs > 0 ? 'ahead of' : 'behind'}`;
}
