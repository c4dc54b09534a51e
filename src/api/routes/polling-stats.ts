// GET /api/admin/polling-stats and below: the fleet in numbers (specification, section 4).
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { StatsOperations } from '../../operations/stats.ts';
import { initProgress, overview, queueStats, taskStats } from '../schemas/stats.ts';
import { toWire } from '../wire.ts';

const tags = ['polling-stats'];

export function pollingStatsRoutes(stats: StatsOperations): FastifyPluginAsyncZod {
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
      { schema: { tags, summary: 'Initialisation progress', response: { 200: initProgress } } },
      async () => toWire(await stats.initProgress()),
    );
  };
}
