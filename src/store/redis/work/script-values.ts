// Arguments and replies of the scripts work-*.lua that have no plain form. Used by work-queue.ts. work-claim.lua and
// work-counts.lua return variables with the names below, in order, as test/unit/store/redis/work/script-values.test.ts checks.
import type { Lane, Settlement, Slot } from '../../ports/live/work-queue.ts';
import type { RedisArgument } from '../client/client.ts';

/** Each value is an example of its type. */
export const CLAIM_REPLY = {
  inForce: 0,
  freeSlots: 0,
  pausedMs: 0,
  token: '',
  manualCount: 0,
  retryCount: 0,
  members: [] as string[],
  late: [] as number[],
};

export const CLAIM_SLOTS_REPLY = { inForce: 0, pausedMs: 0, token: '', take: 0 };

export const COUNTS_REPLY = {
  queueLength: 0,
  due: 0,
  inFlight: 0,
  manualLength: 0,
  limit: null as string | null,
  retryDue: 0,
  backoff: 0,
  effectiveLimit: null as string | null,
  inForce: 0,
  waitedMs: 0,
};

export function namedReply<Shape extends object>(shape: Shape, reply: unknown): Shape {
  const values = reply as readonly unknown[];
  return Object.fromEntries(Object.keys(shape).map((name, i) => [name, values[i]])) as Shape;
}

/** @returns the settlements in the six groups that work-settle.lua reads, those of one claim next to each other. */
export function settleGroups(settlements: readonly Settlement[]): RedisArgument[] {
  const groups = Array.from({ length: 6 }, () => new Map<string, [number, ...RedisArgument[]]>());
  for (const { item, verdict, random, waitMs = 0 } of settlements) {
    const at = groupOf(item.lane, verdict);
    const claims = groups[at] as (typeof groups)[number];
    const items = claims.get(item.token) ?? [0];
    if (items[0] === 0) claims.set(item.token, items);
    items[0] += 1;
    items.push(item.member);
    if (at === 1) items.push(waitMs, random);
    if (at === 3) items.push(waitMs);
  }
  return groups.flatMap((claims) => [claims.size, ...[...claims].flat(2)]);
}

/** @returns the member of an item's slot, built like slot_of in prelude.lua. */
export function slotOf({ lane, member, token }: Slot): string {
  return `${lane === 'manual' ? 'm' : lane === 'order' ? 'o' : ''}${member}@${token}`;
}

function groupOf(lane: Lane, verdict: Settlement['verdict']): number {
  if (lane === 'manual') return verdict === 'returned' ? 5 : 4;
  if (verdict === 'returned') return { schedule: 2, retry: 3 }[lane];
  if (verdict === 'early') return 3;
  return verdict === 'done' ? 0 : 1;
}
