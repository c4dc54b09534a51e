// Answers 405 with Allow for the methods a path does not have; the framework would say 404, as if the path did not
// exist. Used by server.ts.
import type { FastifyInstance, HTTPMethods } from 'fastify';
import { sendProblem } from '../error-handling.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];

/**
 * Call before the first route is registered.
 * @returns what to call after the last one: adds the refusals.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  const served = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = served.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    served.set(url, methods);
  });
  return () => {
    for (const [url, methods] of [...served]) refuse(app, url, [...methods].sort());
  };
}

function refuse(app: FastifyInstance, url: string, allowed: readonly string[]): void {
  app.route({
    url,
    method: METHODS.filter((method) => !allowed.includes(method)),
    schema: { hide: true },
    // Before the body is looked at: the method is wrong whatever it carries.
    onRequest: async (request, reply) => {
      reply.header('allow', allowed.join(', '));
      const detail = `${request.method} is not allowed here; allowed: ${allowed.join(', ')}`;
      return sendProblem(request, reply, { status: 405, code: 'method_not_allowed', detail });
    },
    handler: () => {},
  });
}
