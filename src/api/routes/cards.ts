// GET /api/admin/cards: cards in id order; cards/{card_id or iccid}: one card in full; .../explain: why it is polled or not;
// cards/export: all cards.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { type CardFilter, FILTER_FIELDS } from '../../domain/cards/card-filter.ts';
import { SELECTION_BOUNDS } from '../../domain/manual-trigger.ts';
import { LIST_LIMIT_BOUNDS } from '../../domain/page.ts';
import type { CardOperations } from '../../operations/cards/cards.ts';
import type { Explainer } from '../../operations/explain/explainer.ts';
import type { Bulkhead } from '../../platform/bulkhead.ts';
import { snakeCase, type Wire } from '../../platform/snake-keys.ts';
import { cardListReport, cardReport } from '../../resources/cards.ts';
import { ENDPOINTS, FILE_ENDPOINTS } from '../../resources/endpoints.ts';
import { cardExplanation } from '../../resources/explanation.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { answersOf, type Serve, textOf } from '../schemas/answers.ts';
import { line, queryNumber, queryYesOrNo } from '../schemas/fields.ts';

const answers = answersOf('cards');

const params = z.object({ card: z.string() });
const CONTENT_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

const VALUES = {
  id: () => queryNumber(SELECTION_BOUNDS),
  yesNo: () => queryYesOrNo,
  text: (max: number) => line({ min: 1, max }, `must have 1 to ${max} characters`),
};

const cardFilter = z.object(
  Object.fromEntries(
    FILTER_FIELDS.map(([field, { value, most = 0, doc }]) => {
      const schema: z.ZodType = VALUES[value](most);
      return [snakeCase(field), schema.optional().describe(doc)];
    }),
  ) as unknown as { readonly [F in keyof Wire<CardFilter>]-?: z.ZodType<Wire<CardFilter>[F]> },
);

const cardListQuery = cardFilter.extend({
  after_id: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }).default(0),
  limit: queryNumber(LIST_LIMIT_BOUNDS).default(100),
});

export function cardRoutes(
  serve: Serve,
  cards: CardOperations,
  explainer: Explainer,
  expensive: ExpensiveReads,
): void {
  serve(
    ENDPOINTS.cards,
    answers(
      'List cards in id order, a stretch a call: fewer than limit, even none, unless next_after_id is null',
      cardListReport,
      { querystring: cardListQuery },
    ),
    ({ query: { afterId, limit, ...query } }) => cards.list(query, afterId, limit),
  );

  serve(ENDPOINTS.card, answers('Show a card by card_id or iccid', cardReport, { params }), (request) =>
    cards.show(request.params.card),
  );

  serve(
    ENDPOINTS.explain,
    answers('Why a card is or is not polled, for each task type', cardExplanation, { params }),
    (request) => explainer.explain(request.params.card),
  );
  // Streamed: the reader's pace limits the reading.
  serve(
    FILE_ENDPOINTS.exportCards,
    answers(
      'Export cards as CSV or NDJSON, in the format of an import',
      textOf('One card per line; CSV with a header line', ...Object.values(CONTENT_TYPES)),
      {
        querystring: cardFilter.extend({
          format: z.enum(['csv', 'ndjson'], { error: 'must be csv or ndjson' }).default('csv'),
        }),
      },
      { takesLong: true },
    ),
    async ({ method, query: { format, ...query } }, reply) => {
      const leave = await expensive.exports.enter();
      const pieces = cards.export(query, format);
      // For HEAD the framework reads a stream to its end.
      const sent = method === 'HEAD' ? [] : paced(pieces, expensive.stretches);
      const text = Readable.from(sent, { objectMode: false });
      text.once('close', leave);
      // A stream is sent unchanged; the schema describes its text.
      return reply.type(CONTENT_TYPES[format]).send(text as unknown as string);
    },
  );
}

/** Reads each piece in its turn. */
async function* paced(pieces: AsyncGenerator<string>, turns: Bulkhead): AsyncGenerator<string> {
  for (;;) {
    const piece = await turns.run(() => pieces.next());
    if (piece.done === true) return;
    yield piece.value;
  }
}
