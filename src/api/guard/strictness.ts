// Refuses what a request says and nobody reads: unknown query parameters, and bodies of routes that take none. A misspelt
// parameter would otherwise widen what a request does. Used by server.ts for every route but the probes, whose callers
// add parameters of their own.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CardpollError } from '../../platform/errors.ts';
import { isObject } from '../../platform/json.ts';
import { UNKNOWN_FIELD } from '../problem.ts';
import { hasBody } from './bodies.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Query parameters that the route does not know are ignored. */
    anyQuery?: boolean;
  }
}

/** Call before the first route is registered. */
export function refuseUnknown(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (route.config?.anyQuery === true) return;
    const { querystring } = route.schema ?? {};
    const known = querystring instanceof z.ZodObject ? querystring : z.object({});
    route.schema = { ...route.schema, querystring: known.strict() };
  });
  app.addHook('preValidation', async (request) => {
    if (request.is404 || request.routeOptions.schema?.body !== undefined || !carriesSomething(request))
      return;
    throw new CardpollError('invalid', 'body_not_taken', 'the request takes no body', {
      fields: unknownIn(request),
    });
  });
}

/** Clients that always send an object may send an empty one. */
function carriesSomething(request: FastifyRequest): boolean {
  const { body } = request;
  // The framework reads no body of a GET.
  if (body === undefined) return request.method === 'GET' && hasBody(request);
  return !isObject(body) || Object.keys(body).length > 0;
}

function unknownIn({ body }: FastifyRequest) {
  if (!isObject(body)) return [{ field: 'body', message: 'is not taken here' }];
  return Object.keys(body).map((field) => ({ field, message: UNKNOWN_FIELD }));
}
