// The number of polls of each carrier that ended and that failed. Counted by the engine, kept by the live store. Pure.

export interface CarrierPolls {
  readonly polls: number;
  readonly failed: number;
}

export type PollsByCarrier = ReadonlyMap<number, CarrierPolls>;

/** @param most maximum number of carriers; the polls of further ones are left out. */
export function sumOfCarriers(
  all: readonly PollsByCarrier[],
  most = Number.POSITIVE_INFINITY,
): PollsByCarrier {
  const sum = new Map<number, CarrierPolls>();
  for (const carriers of all) {
    for (const [carrierId, { polls, failed }] of carriers) {
      const before = sum.get(carrierId);
      if (before === undefined && sum.size >= most) continue;
      sum.set(carrierId, { polls: (before?.polls ?? 0) + polls, failed: (before?.failed ?? 0) + failed });
    }
  }
  return sum;
}
