// /api/admin/stops: stops of cards, their mode, and what is done with those that are held; POST cards/{card}/stop.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import {
  dismissReport,
  orderedStopReport,
  releaseReport,
  stopModeReport,
  stopReport,
} from '../../operations/stops/stop-reports.ts';
import {
  type HeldStops,
  modeVersion,
  type StopModeOperations,
  type StopOperations,
} from '../../operations/stops/stops.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { expectedVersion, ifMatchHeader, withVersion } from '../etag.ts';
import { onPage, pageOf, pageRequestOf } from '../schemas/page.ts';
import { CARD_LIST_BYTES, cardOrder, heldStops, modeChange, stopQuery } from '../schemas/stops.ts';
import { answersOf } from './answers.ts';

const { answers, reports } = answersOf('stops');

export function stopRoutes(stops: StopOperations, mode: StopModeOperations): FastifyPluginAsyncZod {
  return async (app) => {
    await app.register(modeRoutes(mode));
    app.get(
      '/stops',
      answers('List stops, the latest first', pageOf(stopReport), { querystring: stopQuery }),
      async ({ query }) => {
        const { state = null, since: sinceMs = null, carrier_id: carrierId = null } = query;
        return onPage(await stops.list({ state, sinceMs, carrierId }, pageRequestOf(query)), query);
      },
    );
    app.post(
      '/cards/:card/stop',
      reports(
        'Stop a card by card_id or iccid, whatever it has used',
        orderedStopReport,
        { params: z.object({ card: z.string() }), body: cardOrder },
        202,
      ),
      async ({ actor, params, body }) => toWire(await stops.order(actor, params.card, body.reason)),
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
        ...reports(
          'Let held stops go on: each card is judged anew, and the budget does not hold it',
          releaseReport,
          { body: heldStops },
        ),
      },
      async ({ actor, body }) => toWire(await stops.release(actor, heldOf(body))),
    );
    app.post(
      '/stops/dismiss',
      {
        bodyLimit: CARD_LIST_BYTES,
        ...reports('Give held stops up: the cards are not stopped in that month', dismissReport, {
          body: heldStops,
        }),
      },
      async ({ actor, body }) => toWire(await stops.dismiss(actor, heldOf(body))),
    );
  };
}

function modeRoutes(mode: StopModeOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/stops/mode',
      reports('Show whether cards over their package are stopped, and since when', stopModeReport),
      async (_, reply) => withVersion(reply, await mode.show(), modeVersion),
    );
    app.put(
      '/stops/mode',
      reports(
        'Set the mode for the whole fleet; enforce also accepts a jump of the readings as right',
        stopModeReport,
        { headers: ifMatchHeader, body: modeChange },
      ),
      async ({ actor, body, headers }, reply) => {
        const set = mode.set(actor, body.mode, body.reason, expectedVersion(headers));
        return withVersion(reply, await set, modeVersion);
      },
    );
  };
}

function heldOf({ card_ids: cardIds, all, reason }: z.output<typeof heldStops>): HeldStops {
  return { cardIds: cardIds ?? null, all: all ?? false, reason };
}
