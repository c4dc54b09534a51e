// Reads JSON bodies: malformed ones, those that would touch prototypes, name a field twice or are nested deeply are refused.
// Used by server.ts for all routes but the card import. Compressed bodies of any kind are refused too: no route
// reads them, and they could expand a thousandfold.
import type { FastifyInstance } from 'fastify';
import { CardpollError } from '../../platform/errors.ts';
import { jsonFault } from '../../platform/json-fault.ts';
import { UNSUPPORTED_ENCODING } from '../problem.ts';

/**
 * The framework's own reading, but for one thing: routes that take no body take an empty one with the content type of
 * JSON, which many clients send with every POST.
 */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text.length === 0 && request.routeOptions.schema?.body === undefined) done(null, undefined);
    else parse(request, text as string, (error, body) => done(error ?? faultIn(text as string), body));
  });
}

function faultIn(json: string): CardpollError | null {
  const fault = jsonFault(json);
  return fault === null ? null : new CardpollError('bad_data', fault.code, `the JSON ${fault.detail}`);
}

/** Covers every route, after authentication and before the body is read. */
export function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook('preParsing', async ({ headers }, reply) => {
    const encoding = headers['content-encoding'];
    if (encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding)) return;
    reply.header('accept-encoding', 'identity');
    throw new CardpollError('bad_data', UNSUPPORTED_ENCODING, 'the body is compressed or otherwise encoded', {
      hint: 'send it as it is, without Content-Encoding',
    });
  });
}
