// What supervisors, load balancers and tools ask: alive, ready, version, API description. Public: no token needed.
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { sendProblem } from '../error-handling.ts';

/** Whether this instance works. */
export interface Readiness {
  /** Why it does not, one sentence each; empty when it does. */
  readonly problems: readonly string[];
  /** Pauses and breakers that hold polling back; no reason to take the instance out of service. */
  readonly restraints: readonly string[];
}

const tags = ['probes'];

/** Load balancers and monitors add parameters of their own. */
const ANY_QUERY = { anyQuery: true } as const;

export function probeRoutes(readiness: () => Promise<Readiness>, version: string): FastifyPluginAsyncZod {
  return async (app) => {
    app.get(
      '/livez',
      {
        config: ANY_QUERY,
        schema: {
          tags,
          summary: 'The process runs',
          response: { 200: z.object({ status: z.literal('ok') }) },
        },
      },
      async () => ({ status: 'ok' as const }),
    );
    app.get(
      '/readyz',
      {
        config: ANY_QUERY,
        schema: {
          tags,
          summary: 'The instance works',
          response: { 200: z.object({ status: z.literal('ready'), restraints: z.array(z.string()) }) },
        },
      },
      async (request, reply) => {
        const { problems, restraints } = await readiness();
        if (problems.length === 0) return { status: 'ready' as const, restraints: [...restraints] };
        return sendProblem(request, reply, { status: 503, code: 'not_ready', detail: problems.join('; ') });
      },
    );
    app.get(
      '/version',
      {
        schema: {
          tags,
          summary: 'Version of this instance',
          response: { 200: z.object({ name: z.string(), version: z.string(), node: z.string() }) },
        },
      },
      async () => ({ name: 'cardpoll', version, node: process.versions.node }),
    );
    app.get(
      '/openapi.json',
      {
        schema: {
          tags,
          summary: 'This description',
          response: { 200: z.looseObject({ openapi: z.string() }) },
        },
      },
      async () => app.swagger() as { openapi: string },
    );
  };
}
