// /api/admin/stops: stops of cards, their mode, and what is done with those that are held; POST cards/{card}/stop.
import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { modeVersion, type StopModeOperations } from '../../operations/stops/stop-mode.ts';
import {
  dismissReport,
  orderedStopReport,
  releaseReport,
  type StopModeReport,
  stopModeReport,
  stopReport,
} from '../../operations/stops/stop-reports.ts';
import type { HeldStops, StopOperations } from '../../operations/stops/stops.ts';
import { toWire } from '../client/wire.ts';
import { etagOf, expectedVersion, ifMatchHeader } from '../etag.ts';
import { onPage, pageOf, pageRequestOf } from '../schemas/page.ts';
import { CARD_LIST_BYTES, cardOrder, heldStops, modeChange, stopQuery } from '../schemas/stops.ts';
import { wireSchema } from '../wire-schema.ts';

const tags = ['stops'];

export function stopRoutes(stops: StopOperations, mode: StopModeOperations): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(modeRoutes(mode));
    app.get(
      '/stops',
      {
        schema: {
          tags,
          summary: 'List stops, the latest first',
          querystring: stopQuery,
          response: { 200: pageOf(stopReport) },
        },
      },
      async ({ query }) => {
        const { state = null, since: sinceMs = null, carrier_id: carrierId = null } = query;
        return onPage(await stops.list({ state, sinceMs, carrierId }, pageRequestOf(query)), query);
      },
    );
    app.post(
      '/cards/:card/stop',
      {
        schema: {
          tags,
          summary: 'Stop a card by card_id or iccid, whatever it has used',
          params: z.object({ card: z.string() }),
          body: cardOrder,
          response: { 202: wireSchema(orderedStopReport) },
        },
      },
      async ({ actor, params, body }, reply) =>
        reply.status(202).send(toWire(await stops.order(actor, params.card, body.reason))),
    );
  };
}

/** Decisions about very many stops take longer than other requests may. */
export function heldStopRoutes(stops: StopOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      '/stops/release',
      {
        bodyLimit: CARD_LIST_BYTES,
        schema: {
          tags,
          summary: 'Let held stops go on: each card is judged anew, and the budget does not hold it',
          body: heldStops,
          response: { 200: wireSchema(releaseReport) },
        },
      },
      async ({ actor, body }) => toWire(await stops.release(actor, heldOf(body))),
    );
    app.post(
      '/stops/dismiss',
      {
        bodyLimit: CARD_LIST_BYTES,
        schema: {
          tags,
          summary: 'Give held stops up: the cards are not stopped in that month',
          body: heldStops,
          response: { 200: wireSchema(dismissReport) },
        },
      },
      async ({ actor, body }) => toWire(await stops.dismiss(actor, heldOf(body))),
    );
  };
}

function modeRoutes(mode: StopModeOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/stops/mode',
      {
        schema: {
          tags,
          summary: 'Show whether cards over their package are stopped, and since when',
          response: { 200: wireSchema(stopModeReport) },
        },
      },
      async (_, reply) => withVersion(reply, await mode.show()),
    );
    app.put(
      '/stops/mode',
      {
        schema: {
          tags,
          summary: 'Set the mode for the whole fleet; enforce also accepts a jump of the readings as right',
          headers: ifMatchHeader,
          body: modeChange,
          response: { 200: wireSchema(stopModeReport) },
        },
      },
      async ({ actor, body, headers }, reply) =>
        withVersion(reply, await mode.set(actor, body.mode, body.reason, expectedVersion(headers))),
    );
  };
}

function withVersion(reply: FastifyReply, report: StopModeReport) {
  reply.header('etag', etagOf(modeVersion(report)));
  return toWire(report);
}

function heldOf({ card_ids: cardIds, all, reason }: z.output<typeof heldStops>): HeldStops {
  return { cardIds: cardIds ?? null, all: all ?? false, reason };
}
