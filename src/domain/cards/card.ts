// A SIM card as the engine sees it: what an import has set, and the state that polls and operators keep current.
import type { CardAttributes } from './card-import.ts';
import type { UsageMonth } from './usage-month.ts';

export interface Card extends CardAttributes {
  readonly realNameVerified: boolean;
  /** True while the card is stopped, by cardpoll or as the gateway reports. */
  readonly stopped: boolean;
  /** True while an order of an operator waits for the card: to stop it, to judge its stop anew, or to resume it. */
  readonly ordered: boolean;
  /** The newest month with a reading; null before the first one. */
  readonly usage: UsageMonth | null;
}

/** The attributes that decide in which rings a card is. */
export type CardMembership = Pick<Card, 'cardId' | 'carrierId' | 'realNameVerified'>;
