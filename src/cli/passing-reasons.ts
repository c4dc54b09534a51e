// Which alerts about the fleet pass by themselves. Used by the doctor: a job that mails its failures must not mail about them.
import type { HealthReasonBody, OverviewBody } from '../api/client/client-bodies.ts';
import { span } from './output/style.ts';

/** What a backlog does to the numbers; `interval_missed` says that cards are late all the same. */
const OF_A_BACKLOG: readonly string[] = ['queue_backlog', 'concurrency_usage'];
/** What is not in order yet when a fleet has just started. */
const OF_A_START: readonly string[] = [
  ...OF_A_BACKLOG,
  ...['interval_missed', 'nothing_polled', 'avg_duration', 'success_rate'],
];
const START_MS = 60_000;

/** The reasons, with those alerts as warnings that say why they pass. */
export function tempered(overview: OverviewBody): readonly HealthReasonBody[] {
  const starts = isStarting(overview);
  const { drain_seconds: drain } = overview.capacity;
  return overview.health_reasons.map((reason) => {
    if (reason.severity !== 'alert') return reason;
    if (starts && OF_A_START.includes(reason.code))
      return passing(reason, 'every instance started less than a minute ago');
    if (drain !== null && OF_A_BACKLOG.includes(reason.code))
      return passing(reason, `the whole backlog is gone in about ${span(Math.ceil(drain))}`);
    return reason;
  });
}

function passing(reason: HealthReasonBody, why: string): HealthReasonBody {
  return { ...reason, severity: 'warning', text: `${reason.text}; ${why}` };
}

function isStarting({ generated_at, workers }: OverviewBody): boolean {
  const nowMs = Date.parse(generated_at);
  return workers.length > 0 && workers.every(({ started_at }) => nowMs - Date.parse(started_at) < START_MS);
}
