// What instances report about themselves: that they cannot use the database, or could not reload their configuration and run
// with the one from before. Used for the fleet's health and by the doctor. Pure.
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';
import { dateOf } from '../date-of.ts';
import type { HealthReason } from './health-report.ts';

export interface DatabaseOutages {
  /** Number of live instances. */
  readonly instances: number;
  /** Ids of the instances that cannot use the database. */
  readonly cutOff: readonly string[];
  /** No instance leads: all candidates are cut off. */
  readonly leaderless: boolean;
  /** Start of the longest outage, epoch milliseconds; `reason` is of the same instance. */
  readonly sinceMs: number;
  readonly reason: string;
}

/** @returns null when all instances can use the database. */
export function databaseOutagesOf(
  instances: ReadonlyArray<Pick<InstanceInfo, 'instanceId' | 'roles' | 'databaseOutage'>>,
): DatabaseOutages | null {
  const cutOff = instances.filter(({ databaseOutage }) => databaseOutage !== null);
  const [longest] = cutOff
    .flatMap(({ databaseOutage }) => databaseOutage ?? [])
    .sort((a, b) => a.sinceMs - b.sinceMs);
  if (longest === undefined) return null;
  const candidates = instances.filter(({ roles }) => roles.includes('scheduler'));
  return {
    instances: instances.length,
    cutOff: cutOff.map(({ instanceId }) => instanceId),
    leaderless: candidates.length > 0 && candidates.every((one) => one.databaseOutage !== null),
    ...longest,
  };
}

/** Describes the outage: without the database an instance cannot lead, and polls only cards in the card cache. */
export function outageWords({ instances, cutOff, leaderless, reason }: DatabaseOutages): string {
  const who = `${cutOff.length} of ${instances} instances cannot use the database`;
  return leaderless ? `no instance leads: ${who}: ${reason}` : `${who} (${cutOff.join(', ')}): ${reason}`;
}

/**
 * Says that no worker is alive, and what to run.
 *
 * @param silence why the instance that reports this is not among the live ones itself; null: it is, or is none
 */
export function noWorkerWords(silence: string | null): { readonly text: string; readonly command: string } {
  if (silence !== null)
    return { text: `no instance is known to poll: ${silence}`, command: 'cardpoll doctor' };
  const text = 'no instance polls: none with the role worker is alive';
  return { text, command: 'cardpoll daemon --roles worker' };
}

/** A configuration with many mistakes is described in the log in full. */
const MAX_REASON_CHARS = 200;

/** One reason for all instances: they usually read copies of one file. */
export function reloadReasons(
  instances: ReadonlyArray<Pick<InstanceInfo, 'instanceId' | 'reloadFailure'>>,
): HealthReason[] {
  const failures = instances.flatMap(({ instanceId, reloadFailure }) =>
    reloadFailure === null ? [] : [{ instanceId, ...reloadFailure }],
  );
  const [first] = failures.sort((a, b) => a.sinceMs - b.sinceMs);
  if (first === undefined) return [];
  const who =
    failures.length === 1 ? first.instanceId : `${failures.length} of ${instances.length} instances`;
  const reason = first.reason.replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARS);
  return [
    {
      code: 'reload_failed',
      severity: 'warning',
      text: `${who} could not reload the configuration, and the one from before is in force: ${reason}`,
      command: 'cardpoll doctor',
      taskType: null,
      since: dateOf(first.sinceMs),
    },
  ];
}
