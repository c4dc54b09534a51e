// How a route is described: what it is for, what it answers, and what it takes. Used by the routes of the admin API; from it
// follow the checks of requests and answers, the status of an answer, and the OpenAPI document.
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { wireSchema } from '../wire-schema.ts';

/** @param tag of routes in the OpenAPI document (openapi.ts). @returns what describes such a route. */
export function answersOf(tag: string) {
  /** @param takes params, querystring, headers and body, as far as there are. @param status of its answer. */
  const answers = <
    Answer extends z.ZodType,
    const Takes extends object = object,
    const Status extends number = 200,
  >(
    summary: string,
    answer: Answer,
    takes: Takes = {} as Takes,
    status: Status = 200 as Status,
  ) => ({
    schema: { tags: [tag], summary, ...takes, response: { [status]: answer } as Record<Status, Answer> },
  });
  /** The same for an answer that is a report. */
  const reports = <
    Report extends z.ZodType,
    const Takes extends object = object,
    const Status extends number = 200,
  >(
    summary: string,
    report: Report,
    takes?: Takes,
    status?: Status,
  ) => answers(summary, wireSchema(report), takes, status);
  return { answers, reports };
}

/** Gives every answer the lowest status that its route describes; errors have their own. */
export function setStatus(app: FastifyInstance): void {
  app.addHook('preHandler', async ({ routeOptions }, reply) => {
    const [status] = Object.keys(routeOptions.schema?.response ?? {});
    if (status !== undefined) reply.code(Number(status));
  });
}
