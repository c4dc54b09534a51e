// What requests about stops may say. Used by routes/stops.ts and routes/stop-resumes.ts. What needs more than one field to
// be judged (card_ids, or all or since instead) is checked in operations/stops.
import { z } from 'zod';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import { ONE_LINE } from '../../domain/one-line.ts';
import {
  MAX_ORDERED_CARDS,
  REASON_CHARS,
  REASON_RULE,
  STOP_MODES,
  STOP_STATES,
} from '../../domain/stops/stop.ts';
import { body, instant, listOfCards, oneOf, queryNumber, requiredOr, wholeNumber } from './fields.ts';
import { pageQuery } from './page.ts';

/** A body with so many card ids is larger than others may be. */
export const CARD_LIST_BYTES = 2 * 1024 * 1024;

const error = requiredOr(REASON_RULE);
const reason = z
  .string({ error })
  .trim()
  .min(REASON_CHARS.min, { error })
  .max(REASON_CHARS.max, { error })
  .regex(ONE_LINE, { error })
  .describe(`Why: ${REASON_RULE.replace(/^must be /, '')}. White space around it is removed.`);

const cardIds = listOfCards(MAX_ORDERED_CARDS).optional();

export const stopQuery = pageQuery.extend({
  state: oneOf(STOP_STATES).optional(),
  since: instant.optional().describe('Stopped, or requested, at this time or later'),
  carrier_id: queryNumber(SELECTION_BOUNDS).optional(),
});

export const modeChange = body({ mode: oneOf(STOP_MODES), reason });

export const heldStops = body({
  card_ids: cardIds,
  all: z.literal(true, { error: 'must be true' }).optional().describe('All held stops, instead of card_ids'),
  reason,
});

const stopAgain = z
  .boolean({ error: 'must be true or false' })
  .default(false)
  .describe('Let the cards be stopped again in the month, by a reading taken after the resume that is over');

export const resumeRequest = body({
  card_ids: cardIds,
  since: instant
    .optional()
    .describe(
      'What cardpoll stopped since this time, without stops that operators ordered; instead of card_ids',
    ),
  carrier_id: wholeNumber(SELECTION_BOUNDS).optional().describe('With since: only cards of this carrier'),
  reason,
  stop_again: stopAgain,
  dry_run: z
    .boolean({ error: 'must be true or false' })
    .default(false)
    .describe('Only count the cards that the run would have'),
});

export const cardOrder = body({ reason });

export const cardResume = body({ reason, stop_again: stopAgain });
