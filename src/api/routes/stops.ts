// /api/admin/stops: stops of cards, their mode, and the decisions about held ones; below stops/resume the runs that resume
// stopped cards; POST cards/{card}/stop and cards/{card}/resume. operations/stops checks rules over several fields (one of
// card_ids, all, since and within).
import { z } from 'zod';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import {
  MAX_ORDERED_CARDS,
  REASON_CHARS,
  REASON_RULE,
  STOP_FILTERS,
  STOP_MODES,
} from '../../domain/stops/stop.ts';
import type { ResumeOperations } from '../../operations/stops/resumes.ts';
import { modeVersion, type StopOperations } from '../../operations/stops/stops.ts';
import { ENDPOINTS, type Endpoint } from '../../resources/endpoints.ts';
import type { ResumePreviewBody, ResumeRunBody } from '../../resources/stops.ts';
import {
  dismissReport,
  orderedStopReport,
  releaseReport,
  resumePreview,
  resumeRunReport,
  stopModeReport,
  stopReport,
} from '../../resources/stops.ts';
import { expectedVersion, ifMatchHeader } from '../etag.ts';
import { answersOf, itemsOf, onPage, pageOf, pageQuery, type Serve, wireSchema } from '../schemas/answers.ts';
import {
  body,
  instant,
  line,
  listOfCards,
  oneOf,
  queryNumber,
  wholeNumber,
  yesOrNo,
} from '../schemas/fields.ts';

/** A request about this many cards has a larger body than others, and its answer may take longer. */
const VERY_MANY = { bodyLimit: 2 * 1024 * 1024, takesLong: true };

const reason = line(REASON_CHARS, REASON_RULE).describe(
  `Why: ${REASON_RULE.replace(/^must be /, '')}. White space around it is removed.`,
);

const cardIds = listOfCards(MAX_ORDERED_CARDS).optional();

const stopQuery = pageQuery.extend({
  state: oneOf(STOP_FILTERS).optional(),
  since: instant.optional().describe('Stopped, or requested, at this time or later'),
  until: instant.optional().describe('Stopped, or requested, before this time'),
  carrier_id: queryNumber(SELECTION_BOUNDS).optional(),
});

const heldStops = body({
  card_ids: cardIds,
  all: z.literal(true, { error: 'must be true' }).optional().describe('All of them, instead of card_ids'),
  reason,
});

const stopAgain = yesOrNo
  .default(false)
  .describe(
    'Allow the cards to be stopped again in the month, by a reading taken after the resume that is over the allowance',
  );

const resumeRequest = body({
  card_ids: cardIds,
  since: instant
    .optional()
    .describe(
      'What cardpoll stopped since this time, without stops that operators ordered; instead of card_ids',
    ),
  within: z
    .literal(true, { error: 'must be true' })
    .optional()
    .describe(
      `Instead of card_ids: the cards that cardpoll stopped for their usage and that are within their package by now, ${MAX_ORDERED_CARDS} at most; they may be stopped again`,
    ),
  carrier_id: wholeNumber(SELECTION_BOUNDS)
    .optional()
    .describe('With since or within: only cards of this carrier'),
  reason,
  stop_again: stopAgain,
  dry_run: yesOrNo.default(false).describe('Only count the cards that the run would have'),
});

const answers = answersOf('stops');

export function stopRoutes(serve: Serve, stops: StopOperations): void {
  serve(
    ENDPOINTS.stopMode,
    answers(
      'Show whether cards over their package are stopped, and since when',
      stopModeReport,
      {},
      { versionOf: modeVersion },
    ),
    () => stops.mode(),
  );
  serve(
    ENDPOINTS.setStopMode,
    answers(
      'Set the mode for the whole fleet; enforce also accepts a jump of the readings as right',
      stopModeReport,
      { headers: ifMatchHeader, body: body({ mode: oneOf(STOP_MODES), reason }) },
      { versionOf: modeVersion },
    ),
    ({ actor, body, headers }) => stops.setMode(actor, body.mode, body.reason, expectedVersion(headers)),
  );
  serve(
    ENDPOINTS.stops,
    answers('List stops, the latest first', pageOf(stopReport), { querystring: stopQuery }),
    async ({ query }) => {
      const { state = null, since: sinceMs = null, until: untilMs = null, carrierId = null } = query;
      return onPage(await stops.list({ state, sinceMs, untilMs, carrierId }, query), query);
    },
  );
  serve(
    ENDPOINTS.stopCard,
    answers(
      'Stop a card by card_id or iccid, whatever it has used',
      orderedStopReport,
      { params: z.object({ card: z.string() }), body: body({ reason }) },
      { status: 202 },
    ),
    ({ actor, params, body }) => stops.order(actor, params.card, body.reason),
  );
  serve(
    ENDPOINTS.releaseStops,
    answers(
      'Let held stops go on: each card is checked again, and the budget does not hold it',
      releaseReport,
      { body: heldStops },
      VERY_MANY,
    ),
    ({ actor, body }) => stops.release(actor, body),
  );
  serve(
    ENDPOINTS.dismissStops,
    answers(
      'Cancel stops that were not called: the cards are not stopped in that month',
      dismissReport,
      { body: heldStops },
      VERY_MANY,
    ),
    ({ actor, body }) => stops.dismiss(actor, body),
  );
}

const params = z.object({ id: z.string() });

export function stopResumeRoutes(serve: Serve, resumes: ResumeOperations): void {
  serve(
    ENDPOINTS.resumeRuns,
    answers('List the latest runs that resume cards, newest first', itemsOf(resumeRunReport)),
    async () => ({ items: await resumes.latest() }),
  );
  serve(ENDPOINTS.resumeRun, answers('Follow a run', resumeRunReport, { params }), (request) =>
    resumes.show(request.params.id),
  );
  serve(
    ENDPOINTS.cancelResumeRun,
    answers('Cancel a run; calls that are being made end normally', resumeRunReport, { params }),
    ({ actor, params: { id } }) => resumes.cancel(actor, id),
  );
  serve(
    ENDPOINTS.resumeCard,
    answers(
      'Resume a card by card_id or iccid',
      resumeRunReport,
      { params: z.object({ card: z.string() }), body: body({ reason, stop_again: stopAgain }) },
      { status: 202 },
    ),
    ({ actor, params: { card }, body }) => resumes.createForCard(actor, card, body),
  );
  serve(
    ENDPOINTS.resumeStopped as Endpoint<ResumeRunBody | ResumePreviewBody>,
    {
      bodyLimit: VERY_MANY.bodyLimit,
      config: { takesLong: true },
      schema: {
        tags: ['stops'],
        summary:
          'Resume a list of cards, what cardpoll stopped since a time and is stopped now, or what it stopped and is within its package by now',
        body: resumeRequest,
        response: { 200: wireSchema(resumePreview), 202: wireSchema(resumeRunReport) },
      },
    },
    async ({ actor, body }, reply) => {
      const { cardIds = null, since: sinceMs = null, carrierId = null, dryRun, reason, stopAgain } = body;
      const criteria = { cardIds, sinceMs, within: body.within === true, carrierId };
      if (dryRun) return resumes.preview(criteria);
      return reply.code(202).send(await resumes.create(actor, criteria, { reason, stopAgain }));
    },
  );
}
