// What decides a card's rings, as a row of table cards. Used by cards.ts and card-changes.ts.
import type { CardMembership } from '../../../domain/cards/card.ts';

export interface MembershipRow {
  readonly card_id: number;
  readonly carrier_id: number;
  readonly real_name_verified: boolean;
}

export function toMembership(row: MembershipRow): CardMembership {
  return { cardId: row.card_id, carrierId: row.carrier_id, realNameVerified: row.real_name_verified };
}
