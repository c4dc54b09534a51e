// How a route is described: what it is for, what it answers, and what it takes. Used by the routes of the admin API; from it
// follow the checks of requests and answers, the status of an answer, and the OpenAPI document.
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';

/** @param tag of routes in the OpenAPI document (openapi.ts). @returns what describes such a route. */
export function answersOf(tag: string) {
  /** @param takes params, querystring, headers and body, as far as there are. @param status of its answer. */
  return <Answer extends z.ZodType, const Takes extends object = object, const Status extends number = 200>(
    summary: string,
    answer: Answer,
    takes: Takes = {} as Takes,
    status: Status = 200 as Status,
  ) => ({
    schema: { tags: [tag], summary, ...takes, response: { [status]: answer } as Record<Status, Answer> },
  });
}

/** Gives every answer the lowest status that its route describes; errors have their own. */
export function setStatus(app: FastifyInstance): void {
  app.addHook('preHandler', async ({ routeOptions }, reply) => {
    const [status] = Object.keys(routeOptions.schema?.response ?? {});
    if (status !== undefined) reply.code(Number(status));
  });
}
