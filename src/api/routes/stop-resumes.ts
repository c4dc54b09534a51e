// /api/admin/stops/resume: runs that resume stopped cards; POST cards/{card}/resume.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ResumeOperations } from '../../operations/stops/resumes.ts';
import { resumePreview, resumeRunReport } from '../../operations/stops/stop-reports.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { itemsOf } from '../schemas/page.ts';
import { CARD_LIST_BYTES, cardResume, resumeRequest } from '../schemas/stops.ts';
import { wireSchema } from '../wire-schema.ts';
import { answersOf } from './answers.ts';

const { answers, reports } = answersOf('stops');
const RUNS = '/stops/resume';
const params = z.object({ id: z.string() });

export function stopResumeRoutes(resumes: ResumeOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      RUNS,
      answers('List the latest runs that resume cards, newest first', itemsOf(resumeRunReport)),
      async () => ({ items: toWire(await resumes.latest()) }),
    );
    app.get(`${RUNS}/:id`, reports('Follow a run', resumeRunReport, { params }), async (request) =>
      toWire(await resumes.show(request.params.id)),
    );
    app.post(
      `${RUNS}/:id/cancel`,
      reports('Cancel a run; calls that are being made end normally', resumeRunReport, { params }),
      async ({ actor, params: { id } }) => toWire(await resumes.cancel(actor, id)),
    );
    app.post(
      '/cards/:card/resume',
      reports(
        'Resume a card by card_id or iccid',
        resumeRunReport,
        { params: z.object({ card: z.string() }), body: cardResume },
        202,
      ),
      async ({ actor, params: { card }, body }) =>
        toWire(await resumes.createForCard(actor, card, orderOf(body))),
    );
  };
}

/** A run of very many cards takes longer to make than other requests may. */
export function newResumeRoute(resumes: ResumeOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.post(
      RUNS,
      {
        bodyLimit: CARD_LIST_BYTES,
        schema: {
          tags: ['stops'],
          summary: 'Resume a list of cards, or what cardpoll stopped since a time and is stopped now',
          body: resumeRequest,
          response: { 200: wireSchema(resumePreview), 202: wireSchema(resumeRunReport) },
        },
      },
      async ({ actor, body }, reply) => {
        const { card_ids: cardIds = null, since: sinceMs = null, carrier_id: carrierId = null } = body;
        const criteria = { cardIds, sinceMs, carrierId };
        if (body.dry_run) return toWire(await resumes.preview(criteria));
        return reply.code(202).send(toWire(await resumes.create(actor, criteria, orderOf(body))));
      },
    );
  };
}

function orderOf({ reason, stop_again: stopAgain }: z.output<typeof cardResume>) {
  return { reason, stopAgain };
}
