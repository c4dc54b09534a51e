// Reads JSON bodies: malformed ones and those that would touch prototypes are refused. Used by server.ts for all
// routes but the card import.
import type { FastifyInstance } from 'fastify';

/**
 * The framework's own reading, but for one thing: routes that take no body take an empty one with the content type of
 * JSON, which many clients send with every POST.
 */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text.length === 0 && request.routeOptions.schema?.body === undefined) done(null, undefined);
    else parse(request, text as string, done);
  });
}
