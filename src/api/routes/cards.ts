// GET /api/admin/cards/{card_id or iccid}: one card in full; .../explain: why it is or is not polled.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { cardListReport, cardReport } from '../../operations/cards/card-report.ts';
import type { CardOperations } from '../../operations/cards/cards.ts';
import { cardExplanation } from '../../operations/explain/explain.ts';
import type { Explainer } from '../../operations/explain/explainer.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { cardFilterOf, cardListQuery } from '../schemas/card-list.ts';
import { wireSchema } from '../wire-schema.ts';
import { answersOf } from './answers.ts';

const answers = answersOf('cards');

const params = z.object({ card: z.string() });

export function cardRoutes(cards: CardOperations, explainer: Explainer): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/cards',
      answers(
        'List cards in id order, a stretch a call: fewer than limit, even none, unless next_after_id is null',
        wireSchema(cardListReport),
        { querystring: cardListQuery },
      ),
      async ({ query }) => toWire(await cards.list(cardFilterOf(query), query.after_id, query.limit)),
    );

    app.get(
      '/cards/:card',
      answers('Show a card by card_id or iccid', wireSchema(cardReport), { params }),
      async (request) => toWire(await cards.show(request.params.card)),
    );

    app.get(
      '/cards/:card/explain',
      answers('Why a card is or is not polled, for each task type', wireSchema(cardExplanation), { params }),
      async (request) => toWire(await explainer.explain(request.params.card)),
    );
  };
}
