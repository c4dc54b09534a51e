// A SIM card as the engine sees it: identity, the attributes that decide its polling, and the state that polls keep
// current.
import type { UsageMonth } from './usage-month.ts';

export const ICCID = /^\d{18,22}$/;

export interface Card {
  readonly cardId: number;
  /** 18 to 22 digits. */
  readonly iccid: string;
  readonly carrierId: number;
  /** The fleet's own status number; selects cards in by-condition triggers (operations interface, section 2.8). */
  readonly status: number;
  readonly realNameVerified: boolean;
  /** True while the card is stopped, by cardpoll or as the gateway reports. */
  readonly stopped: boolean;
  /** Package allowance per calendar month in MB; null means unlimited. */
  readonly allowanceMb: number | null;
  /** True while an order of an operator waits for the card: to stop it, to judge its stop anew, or to resume it. */
  readonly ordered: boolean;
  /** The newest month with a reading; null before the first one. */
  readonly usage: UsageMonth | null;
}

/** The attributes that decide in which rings a card is. */
export type CardMembership = Pick<Card, 'cardId' | 'carrierId' | 'realNameVerified'>;

/** What an import sets, in the order of an export (contract, "Import columns"). */
export const IMPORT_FIELDS = [
  'cardId',
  'iccid',
  'carrierId',
  'status',
  'allowanceMb',
  'realNameVerified',
] as const satisfies ReadonlyArray<keyof Card>;
type ImportField = (typeof IMPORT_FIELDS)[number];

/** One row of an import file. */
export interface CardImport extends Pick<Card, Exclude<ImportField, 'realNameVerified'>> {
  /** null keeps the stored value (false for a new card), since polling finds it out. */
  readonly realNameVerified: boolean | null;
}
