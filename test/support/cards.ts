// Cards and rows of imports, with only what a test is about spelled out: a new field of a card has its default here.
import { CARD_DEFAULTS, type Card, type CardImport } from '../../src/domain/cards/card.ts';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';

/** A row of an import file. */
export function cardRow(cardId: number, fields: Partial<CardImport> = {}): CardImport {
  return { ...CARD_DEFAULTS, cardId, iccid: demoIccid(cardId), carrierId: 1, ...fields };
}

/** A card that runs and was never read. */
export function card(cardId: number, fields: Partial<Card> = {}): Card {
  const { realNameVerified: _, ...row } = cardRow(cardId);
  const state = { realNameVerified: false, stopped: false, usage: null };
  return { ...row, vendorId: null, ...state, ...fields };
}
