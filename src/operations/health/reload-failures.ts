// Which instances could not reload their configuration, and run with the one from before. Used for the fleet's health. Pure.
import type { InstanceInfo } from '../../store/ports/live/coordination.ts';
import { dateOf } from '../date-of.ts';
import type { HealthReason } from './health-report.ts';

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
