// The cards of a world or of a fleet of processes, as operators want them; the record store follows, sooner or later.
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { type Sim, vendorIdOf, type WorldGateway } from './gateway.ts';
import type { Random } from './virtual/random.ts';

export const CARRIERS = 3;
const UNKNOWN_SHARE = 0.02;

export interface WorldCard {
  readonly cardId: number;
  carrierId: number;
  /** An operator has given it another carrier: until caches know it, it may be taken for one of the former. */
  hasMoved: boolean;
  sim: Sim;
  /** Its SIM, and those before it. */
  readonly sims: Sim[];
  /** Those before it, with the instant at which the next one was in the record store. */
  readonly formerSims: Array<{ readonly sim: Sim; until: number }>;
  allowanceMb: number | null;
  /** Allowances that were in force, with the instant at which the next one was in the record store. */
  readonly earlier: Array<{ readonly mb: number | null; until: number }>;
  /** An operator has ordered its stop, and it was not stopped since. */
  ordered: boolean;
  /** An operator has let its held stop go on, or may have, and it was not stopped since. */
  released: boolean;
  /** An operator has ordered that it runs again. */
  resumable: boolean;
}

export function drawnCard(cardId: number, gateway: WorldGateway, draw: Random): WorldCard {
  const sim = gateway.addSim(demoIccid(cardId));
  sim.isUnknown = draw.chance(UNKNOWN_SHARE);
  // One in three has little left, or is over from the start.
  const allowanceMb = draw.chance(0.33)
    ? Math.max(0, Math.round(sim.usedMb + draw.between(-5, 20)))
    : draw.chance(0.2)
      ? null
      : 10_000;
  return {
    ...{ cardId, carrierId: 1 + ((cardId - 1) % CARRIERS), sim, sims: [sim], formerSims: [], allowanceMb },
    earlier: [],
    ...{ hasMoved: false },
    ...{ ordered: false, released: false, resumable: false },
  };
}

/** A top-up, a smaller package, or none. */
export function drawnAllowance({ sim: { usedMb } }: WorldCard, draw: Random): number | null {
  return draw.oneOf([null, 10_000, Math.round(usedMb + 30), Math.max(0, Math.round(usedMb - 5))]);
}

/** @param now the instant at which it is called @returns what to call when the record store has the allowance. */
export function setAllowance(card: WorldCard, mb: number | null, now: () => number): () => void {
  const before = { mb: card.allowanceMb, until: Number.POSITIVE_INFINITY };
  card.earlier.push(before);
  card.allowanceMb = mb;
  return () => {
    before.until = now();
  };
}

/** Cards that have this SIM, or have had it and were recorded with it at this instant or later. */
export function cardsWith(
  {
    cards,
    cardOf,
  }: { readonly cards: ReadonlyMap<number, WorldCard>; readonly cardOf: ReadonlyMap<string, WorldCard> },
  iccid: string,
  since: number,
): WorldCard[] {
  const own = cardOf.get(iccid);
  const former = [...cards.values()].filter(
    (card) => card !== own && card.formerSims.some(({ sim, until }) => sim.iccid === iccid && until >= since),
  );
  return own === undefined ? former : [own, ...former];
}

/** Two cards exchanged this SIM: each may be polled with it for as long as a cache keeps the card. */
export function hadByTwo(fleet: Parameters<typeof cardsWith>[0], iccid: string): boolean {
  return cardsWith(fleet, iccid, Number.NEGATIVE_INFINITY).length > 1;
}

/** As operators import them. @param hasVendorIds the gateway knows SIMs by ids of its own */
export function fileOf(cards: Iterable<WorldCard>, hasVendorIds = false): string {
  const rows = [...cards].map(
    ({ cardId, sim, carrierId, allowanceMb }) =>
      `${cardId},${sim.iccid},${carrierId},1,${allowanceMb ?? ''}${hasVendorIds ? `,${vendorIdOf(sim)}` : ''}`,
  );
  return [
    `card_id,iccid,carrier_id,status,allowance_mb${hasVendorIds ? ',vendor_id' : ''}`,
    ...rows,
    '',
  ].join('\n');
}
