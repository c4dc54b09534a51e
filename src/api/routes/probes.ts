// Endpoints for service managers, load balancers and tools: alive, ready, version and API description, which are public, and
// metrics.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { systemClock } from '../../platform/clock.ts';
import { sendProblem } from '../error-handling.ts';
import { etagOf } from '../etag.ts';
import { type ExpensiveReads, PacedReads } from '../guard/expensive-reads.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { answersOf, type Routes, textOf } from '../schemas/answers.ts';

/** Whether this instance works. */
export interface Readiness {
  /** Why it does not work, one sentence each; empty when it does. */
  readonly problems: readonly string[];
  /** Pauses and breakers that hold polling back, which are no reason to take the instance out of service. */
  readonly restraints: readonly string[];
}

const TAG = 'probes';
const answers = answersOf(TAG);
const ready = z.object({ status: z.literal('ready'), restraints: z.array(z.string()) });
const METRICS_EVERY_MS = 1_000;

const ANY_QUERY = { anyQuery: true } as const;

export function probeRoutes(
  app: Routes,
  readiness: () => Promise<Readiness>,
  version: string,
  expensive: ExpensiveReads,
): void {
  let description: { readonly json: Buffer; readonly etag: string } | null = null;
  app.get(
    '/livez',
    answers('The process runs', z.object({ status: z.literal('ok') }), {}, ANY_QUERY),
    async () => ({ status: 'ok' as const }),
  );
  app.get('/readyz', answers('The instance works', ready, {}, ANY_QUERY), async (request, reply) => {
    const { problems, restraints } = await readiness();
    if (problems.length === 0) return { status: 'ready' as const, restraints };
    return sendProblem(request, reply, { status: 503, code: 'not_ready', detail: problems.join('; ') });
  });
  app.get(
    '/version',
    answers(
      'Version of this instance',
      z.object({ name: z.string(), version: z.string(), node: z.string() }),
    ),
    async () => ({ name: 'cardpoll', version, node: process.versions.node }),
  );
  app.get(
    '/openapi.json',
    {
      schema: {
        tags: [TAG],
        summary: 'This description',
        response: { 200: z.looseObject({ openapi: z.string() }) },
      },
    },
    async ({ headers }, reply) => {
      await expensive.documents.run(async () => {});
      description ??= described(app.swagger());
      const { etag, json } = description;
      reply.headers({ etag, 'cache-control': 'no-cache' }).type('application/json; charset=utf-8');
      if (headers['if-none-match'] === etag) return reply.code(304 as 200).send(undefined as never);
      // Sent unchanged; the schema describes its JSON.
      return reply.send(json as unknown as { openapi: string });
    },
  );
}

/** GET /metrics for Prometheus. Unlike the probes it needs a token where tokens are configured: it reveals the size of the fleet. */
export function metricsRoute(app: Routes, metrics: Metrics): void {
  const pace = new PacedReads(METRICS_EVERY_MS, systemClock);
  app.get(
    '/metrics',
    answers('Metrics for Prometheus', textOf('Text exposition format', 'text/plain')),
    async (_request, reply) =>
      reply.type(metrics.contentType).send(await pace.read('page', () => metrics.text())),
  );
}

/** Serialised once, because it is the same for every request. */
function described(document: object) {
  const json = Buffer.from(JSON.stringify(document));
  return { json, etag: etagOf(createHash('sha256').update(json).digest('base64url')) };
}
