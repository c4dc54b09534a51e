// GET /api/admin/cards/export: all cards, or those of a filter, streamed as they are read. Takes as long as it takes:
// the time limit of the other routes does not hold here; the reader's pace holds the reading back.
import { Readable } from 'node:stream';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CardOperations } from '../../operations/cards/cards.ts';
import type { Bulkhead } from '../../platform/bulkhead.ts';
import type { ExpensiveReads } from '../guard/expensive-reads.ts';
import { cardFilter, cardFilterOf } from '../schemas/card-list.ts';

const CONTENT_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

export function cardExportRoute(cards: CardOperations, expensive: ExpensiveReads): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/cards/export',
      {
        schema: {
          tags: ['cards'],
          summary: 'Export cards as CSV or NDJSON, in the format of an import',
          querystring: cardFilter.extend({
            format: z.enum(['csv', 'ndjson'], { error: 'must be csv or ndjson' }).default('csv'),
          }),
          response: {
            200: {
              description: 'One card per line; CSV with a header line',
              content: Object.fromEntries(
                Object.values(CONTENT_TYPES).map((type) => [type, { schema: z.string() }]),
              ),
            },
          },
        },
      },
      async ({ query }, reply) => {
        const leave = await expensive.exports.enter();
        const pieces = cards.export(cardFilterOf(query), query.format);
        const text = Readable.from(paced(pieces, expensive.stretches), { objectMode: false });
        text.once('close', leave);
        // A stream is sent as it is; the schema describes the text it carries.
        return reply.type(CONTENT_TYPES[query.format]).send(text as unknown as string);
      },
    );
  };
}

/** Reads each piece when it is its turn. */
async function* paced(pieces: AsyncGenerator<string>, turns: Bulkhead): AsyncGenerator<string> {
  for (;;) {
    const piece = await turns.run(() => pieces.next());
    if (piece.done === true) return;
    yield piece.value;
  }
}
