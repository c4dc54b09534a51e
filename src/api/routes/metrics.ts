// GET /metrics for Prometheus. Needs a token where tokens are configured, unlike the probes: it reveals the size of the fleet.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { systemClock } from '../../platform/clock.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { PacedPage } from '../metrics/metrics-pace.ts';

export function metricsRoute(metrics: Metrics): FastifyPluginAsyncZod {
  const page = new PacedPage(() => metrics.text(), systemClock);
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
      async (_request, reply) => reply.type(metrics.contentType).send(await page.text()),
    );
  };
}
