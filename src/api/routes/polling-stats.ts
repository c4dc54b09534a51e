// GET /api/admin/polling-stats and below: the fleet in numbers (specification, section 4). POST polling-init/rebuild.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { InitOperations } from '../../operations/init.ts';
import type { StatsOperations } from '../../operations/stats.ts';
import { initState, overview, queueStats, taskStats } from '../schemas/stats.ts';
import { toWire } from '../wire.ts';

const tags = ['polling-stats'];

export function pollingStatsRoutes(stats: StatsOperations, init: InitOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/polling-stats',
      { schema: { tags, summary: 'Overall statistics', response: { 200: overview } } },
      async () => toWire(await stats.overview()),
    );
    app.get(
      '/polling-stats/queues',
      {
        schema: { tags, summary: 'Queue state', response: { 200: z.object({ items: z.array(queueStats) }) } },
      },
      async () => ({ items: toWire(await stats.queues()) }),
    );
    app.get(
      '/polling-stats/tasks',
      {
        schema: {
          tags,
          summary: 'Task statistics',
          response: { 200: z.object({ items: z.array(taskStats) }) },
        },
      },
      async () => ({ items: toWire(await stats.tasks()) }),
    );
    app.get(
      '/polling-stats/init-progress',
      { schema: { tags, summary: 'Initialisation progress', response: { 200: initState } } },
      async () => toWire(await init.progress()),
    );
    app.post(
      '/polling-init/rebuild',
      {
        schema: {
          tags,
          summary: 'Compare every ring with the cards and repair what differs, in place',
          response: { 202: initState },
        },
      },
      async (_, reply) => reply.code(202).send(toWire(await init.rebuild())),
    );
  };
}
