// GET /metrics for Prometheus. Needs a token where tokens are configured, unlike the probes: it reveals the size of the fleet.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { systemClock } from '../../platform/clock.ts';
import { PacedReads } from '../guard/paced-reads.ts';
import type { Metrics } from '../metrics/metrics.ts';

const EVERY_MS = 1_000;

export function metricsRoute(metrics: Metrics): FastifyPluginAsyncZod {
  const pace = new PacedReads(EVERY_MS, systemClock);
  return async (app) => {
    app.get(
      '/metrics',
      {
        schema: {
          tags: ['probes'],
          summary: 'Metrics for Prometheus',
          response: {
            200: { description: 'Text exposition format', content: { 'text/plain': { schema: z.string() } } },
          },
        },
      },
      async (_request, reply) =>
        reply.type(metrics.contentType).send(await pace.read('page', () => metrics.text())),
    );
  };
}
