// Finds one card in the work of a task type. Used by work-queue.ts. The script work-place.lua reads the keys; this file
// interprets its answer. Changes nothing.
import type { WorkQueue } from '../../ports/live/work-queue.ts';
import type { RedisClient } from '../client/client.ts';
import type { Keys } from '../keys.ts';

/** LPOS searches the list. Triggers hand out far fewer entries; other clients may put in any number. */
const MANUAL_ENTRIES_SEARCHED = 100_000;

type PlaceReply = [
  now: string,
  queueScore: string | null,
  queueRank: number,
  slot: string | null,
  retryScore: string | null,
  retryRank: number,
  failures: string | null,
  manualBefore: number,
  manualRuns: number,
];

export function redisCardPlace(client: RedisClient, keys: Keys): Pick<WorkQueue, 'place'> {
  return {
    async place(taskType, cardId, manualEntries) {
      const names = [
        keys.queue(taskType),
        keys.retry(taskType),
        keys.failures(taskType),
        keys.slots(taskType),
        keys.manual(taskType),
        keys.manualLeases(taskType),
      ];
      const args = [cardId, MANUAL_ENTRIES_SEARCHED, ...manualEntries];
      const reply = (await client.script('workPlace', names, args)) as PlaceReply;
      const [now, queueScore, queueRank, slot, retryScore, retryRank, failures, manualBefore, manualRuns] =
        reply;
      const score = queueScore === null ? null : Number(queueScore);
      // Only tokens have a fraction, and a card whose token has ended is due again.
      const leased = score !== null && !Number.isInteger(score) && score > Number(now);
      return {
        queued: score === null || leased ? null : { dueAtMs: Math.floor(score), before: queueRank },
        running: leased ? { leaseEndsAtMs: Math.floor(score), calling: slot === queueScore } : null,
        retry: retryScore === null ? null : { atMs: Number(retryScore), before: retryRank },
        failuresInARow: Number(failures ?? 0),
        manual: {
          waiting: manualBefore < 0 ? null : { before: manualBefore },
          running: manualRuns === 1,
        },
      };
    },
  };
}
