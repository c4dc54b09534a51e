// GET /metrics for Prometheus. Needs a token where tokens are configured, unlike the probes: it reveals the size of the fleet.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Metrics } from '../metrics/metrics.ts';

export function metricsRoute(metrics: Metrics): FastifyPluginAsyncZod {
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
      async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()),
    );
  };
}
