// GET /api/admin/cards/{card_id or iccid}: one card in full.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { CardOperations } from '../../operations/cards.ts';
import { instant, perTaskTypeOf } from '../schemas/fields.ts';
import { toWire } from '../wire.ts';

const card = z.object({
  card_id: z.int(),
  iccid: z.string(),
  carrier_id: z.int(),
  status: z.int(),
  real_name_verified: z.boolean(),
  stopped: z.boolean(),
  allowance_mb: z.number().nullable(),
  used_mb_month: z.number(),
  usage_month: z.string(),
  last_polled_at: perTaskTypeOf(instant.nullable()),
  next_due_at: perTaskTypeOf(instant.nullable()),
});

export function cardRoutes(cards: CardOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/cards/:card',
      {
        schema: {
          tags: ['cards'],
          summary: 'Show a card by card_id or iccid',
          params: z.object({ card: z.string() }),
          response: { 200: card },
        },
      },
      async ({ params }) => toWire(await cards.show(params.card)),
    );
  };
}
