// Settings of the cleanup. Part of the settings table (settings.ts).
import { cronSchedule } from '../cron-schedule.ts';
import { duration } from '../kinds.ts';
import { withDefault } from './setting.ts';

export const CLEANUP = {
  schedule: withDefault({
    env: 'CARDPOLL_CLEANUP_SCHEDULE',
    yaml: 'cleanup.schedule',
    kind: cronSchedule(),
    default: '30 3 * * *',
    doc: 'When expired data is removed, in the configured time zone. A run missed while no instance was up is skipped.',
  }),
  pauseMs: withDefault({
    env: 'CARDPOLL_CLEANUP_PAUSE_MS',
    yaml: 'cleanup.pause_ms',
    kind: duration('ms', { min: 0, max: 60_000 }),
    default: 50,
    doc: 'Minimum pause between two cleanup batches; it grows to four times the duration of a batch. 0: no pause.',
  }),
} as const;
