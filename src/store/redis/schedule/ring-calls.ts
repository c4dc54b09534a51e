// Groups card ids by ring bucket and cuts the groups into script calls of bounded length. Used by rings.ts; pure.
import { bucketNumberOf, type RingShape } from '../../../domain/schedule/phase.ts';

/** Most ids in one script call; about 1 ms of Redis' time. */
const IDS_PER_CALL = 1_000;

/** The cards of one bucket in one call, with their positions in the caller's list. */
export interface BucketGroup {
  readonly number: number;
  readonly ids: number[];
  readonly positions: number[];
}

/** @param positions the index of each id in the caller's list; null when `cardIds` has the caller's order */
export function groupByBucket(
  ids: readonly number[],
  positions: readonly number[] | null,
  shape: RingShape,
): Map<number, BucketGroup> {
  const groups = new Map<number, BucketGroup>();
  for (let i = 0; i < ids.length; i += 1) {
    const id = ids[i] as number;
    const number = bucketNumberOf(id, shape);
    let group = groups.get(number);
    if (group === undefined) {
      group = { number, ids: [], positions: [] };
      groups.set(number, group);
    }
    group.ids.push(id);
    group.positions.push(positions?.[i] ?? i);
  }
  return groups;
}

export function splitIntoCalls(groups: Map<number, BucketGroup>): BucketGroup[][] {
  const calls: BucketGroup[][] = [];
  let call: BucketGroup[] = [];
  let room = IDS_PER_CALL;
  for (const { number, ids, positions } of groups.values()) {
    for (let from = 0; from < ids.length; ) {
      const end = Math.min(ids.length, from + room);
      call.push({ number, ids: ids.slice(from, end), positions: positions.slice(from, end) });
      room -= end - from;
      from = end;
      if (room === 0) {
        calls.push(call);
        call = [];
        room = IDS_PER_CALL;
      }
    }
  }
  if (call.length > 0) calls.push(call);
  return calls;
}
