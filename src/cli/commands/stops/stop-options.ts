// Arguments and options that commands about stops share: which cards, since when, and why.
import { formed, integer, type Kind, refuse } from '../../../config/kinds.ts';
import { SELECTION_BOUNDS } from '../../../domain/manual-trigger.ts';
import { isReason, REASON_RULE } from '../../../domain/stops/stop.ts';
import type { ResumeOrderBody } from '../../../resources/stops.ts';
import { ask } from '../../ask.ts';
import type { ArgumentSpec, CommandContext, OptionSpec } from '../../command.ts';
import { PAST_TIME } from '../../past-time.ts';

const REASON: Kind<string> = {
  accepts: 'text',
  parse: (raw) => {
    const reason = String(raw).trim();
    return isReason(reason) ? reason : refuse(REASON_RULE);
  },
};
export const OPTIONAL_REASON = {
  flags: '--reason <text>',
  doc: 'why; kept with each stop and in the audit trail',
  kind: REASON,
} as const satisfies OptionSpec;
export const REASON_OPTION = { ...OPTIONAL_REASON, required: true } as const satisfies OptionSpec;

export const STOP_AGAIN_OPTION = {
  flags: '--stop-again',
  doc: 'allow the cards to be stopped again in this month, by readings taken after the resume',
} as const satisfies OptionSpec;
export function resumeOrderOf(given: {
  readonly reason: string;
  readonly stopAgain?: boolean;
}): ResumeOrderBody {
  return { reason: given.reason, stop_again: given.stopAgain === true };
}

export const SINCE_OPTION = {
  flags: '--since <time>',
  doc: 'only stops since: 2h (two hours ago), 02:00, today, yesterday, or a time',
  kind: PAST_TIME,
} as const satisfies OptionSpec;
export const CARRIER_OPTION = {
  flags: '--carrier-id <n>',
  doc: 'only cards of this carrier',
  kind: integer(SELECTION_BOUNDS),
} as const satisfies OptionSpec;

const CARD = formed('card id or iccid', /^\d{1,22}$/, 'is not a card id or an iccid');
export const CARDS_ARGUMENT = {
  name: '[card...]',
  doc: 'card ids, or iccids (18 to 22 digits)',
  kind: CARD,
} as const satisfies ArgumentSpec;
const ICCID_DIGITS = 18;

/** @returns the card ids. @throws CardpollError `not_found` for an unknown iccid. */
export async function readCardIds(
  context: CommandContext,
  cards: readonly string[],
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const card of cards) {
    if (card.length < ICCID_DIGITS) ids.push(Number(card));
    else ids.push((await ask(context, 'reading the card', (client) => client.card(card))).body.card_id);
  }
  return ids;
}
