// What work-claim.lua and work-counts.lua return, by name and in order. The scripts return variables of the same names, as
// test/unit/store/redis/work/replies.test.ts checks. Used by work-queue.ts.

/** Each value is one of its type. */
export const CLAIM_REPLY = {
  freeSlots: 0,
  pausedMs: 0,
  token: '',
  manualCount: 0,
  retryCount: 0,
  members: [] as string[],
  late: [] as number[],
};

export const COUNTS_REPLY = {
  queueLength: 0,
  due: 0,
  inFlight: 0,
  manualLength: 0,
  limit: null as string | null,
  retryDue: 0,
  backoff: 0,
  effectiveLimit: null as string | null,
};

export function namedReply<Shape extends object>(shape: Shape, reply: unknown): Shape {
  const values = reply as readonly unknown[];
  return Object.fromEntries(Object.keys(shape).map((name, i) => [name, values[i]])) as Shape;
}
