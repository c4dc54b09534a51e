// The removal of expired data.
import { countWords } from '../domain/words.ts';
import type { CleanupPreviewBody } from '../resources/cleanup.ts';
import type { PlannedChange } from './planned-change.ts';

export function cleanupChange({ items, total_rows }: CleanupPreviewBody): PlannedChange {
  const isEstimated = items.some(({ estimated }) => estimated);
  return {
    title: `Remove ${about(isEstimated)}${countWords(total_rows, 'expired row')} permanently; no card`,
    effects: items.map(
      ({ target, rows, retention_days, estimated }) =>
        `${target}: ${about(estimated)}${countWords(rows, 'row')} older than ${retention_days} days`,
    ),
    command: 'cardpoll cleanup run',
    perform: (client) => client.triggerCleanup(),
    said: ({ run_id }) => `cleanup ${run_id} has begun`,
  };
}

function about(isEstimated: boolean): string {
  return isEstimated ? 'about ' : '';
}
