// A SIM card as the engine sees it: what an import has set, and the state that polls and operators keep current.
import type { CardAttributes } from './card-import.ts';
import type { UsageMonth } from './usage-month.ts';

/** What polls find out, besides the usage. */
export interface CardState {
  readonly realNameVerified: boolean;
  /** True while the card is stopped, by cardpoll or as the gateway reports. */
  readonly stopped: boolean;
}

const STATE: Readonly<Record<keyof CardState, true>> = { realNameVerified: true, stopped: true };
export const STATE_FIELDS = Object.keys(STATE) as ReadonlyArray<keyof CardState>;

export interface Card extends CardAttributes, CardState {
  /** True while an order of an operator waits for the card: to stop it, to judge its stop anew, or to resume it. */
  readonly ordered: boolean;
  /** The newest month with a reading; null before the first one. */
  readonly usage: UsageMonth | null;
}

/** The attributes that decide in which rings a card is. */
export type CardMembership = Pick<Card, 'cardId' | 'carrierId' | 'realNameVerified'>;
