// Builds the arguments of work-settle.lua. Used by work-queue.ts.
import type { Lane, Settlement } from '../../ports/live/work-queue.ts';
import type { RedisArgument } from '../client/client.ts';

/** @returns the settlements in the six groups that work-settle.lua reads. */
export function settleGroups(settlements: readonly Settlement[]): RedisArgument[] {
  const groups: RedisArgument[][] = [[0], [0], [0], [0], [0], [0]];
  for (const { item, verdict, random, waitMs = 0 } of settlements) {
    const group = groups[groupOf(item.lane, verdict)] as [number, ...RedisArgument[]];
    group[0] += 1;
    group.push(item.member, item.token);
    if (group === groups[1]) group.push(waitMs, random);
    if (group === groups[3]) group.push(waitMs);
  }
  return groups.flat();
}

function groupOf(lane: Lane, verdict: Settlement['verdict']): number {
  if (lane === 'manual') return verdict === 'returned' ? 5 : 4;
  if (verdict === 'returned') return lane === 'retry' ? 3 : 2;
  if (verdict === 'early') return 3;
  return verdict === 'done' ? 0 : 1;
}
