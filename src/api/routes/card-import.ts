// POST /api/admin/cards/import: a file of cards, streamed into the import as it arrives. Of any size and for as long
// as it takes: neither the body limit nor the time limit of the other routes holds here; the import's own pace holds
// the sender back.
import { PassThrough } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ImportFormat } from '../../operations/cards/card-import.ts';
import { importReport } from '../../operations/cards/card-report.ts';
import type { CardOperations } from '../../operations/cards/cards.ts';
import { CardpollError } from '../../platform/errors.ts';
import { toWire } from '../client/wire.ts';
import { wireSchema } from '../wire-schema.ts';

const FORMATS: Record<string, ImportFormat> = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' };
const CONTENT_TYPES = Object.keys(FORMATS);
const choice = z.enum(['true', 'false'], { error: 'must be true or false' }).default('false');

export function cardImportRoute(cards: CardOperations): FastifyPluginAsyncZod {
  return async (app) => {
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(CONTENT_TYPES, (_request, _payload, done) => done(null));
    app.post(
      '/cards/import',
      {
        config: { streamedBody: true },
        schema: {
          tags: ['cards'],
          summary: 'Import cards from CSV or NDJSON',
          consumes: CONTENT_TYPES,
          // For the description only: the handler reads the file from the connection.
          body: z.unknown(),
          querystring: z.object({
            dry_run: choice.describe('Check and count, and write nothing'),
            ignore_columns: choice.describe('Ignore unknown columns instead of refusing the file'),
            overwrite_verified: choice.describe(
              'real_name_verified false takes back what polls have learned',
            ),
          }),
          response: { 200: wireSchema(importReport) },
        },
      },
      async (request) => {
        const format = FORMATS[mediaType(request.headers['content-type'] ?? '')];
        if (format === undefined) {
          throw new CardpollError('bad_data', 'empty_body', 'there is no file in the request');
        }
        const { dry_run, ignore_columns, overwrite_verified } = request.query;
        const options = {
          format,
          dryRun: dry_run === 'true',
          ignoreColumns: ignore_columns === 'true',
          overwriteVerified: overwrite_verified === 'true',
        };
        return toWire(await importBody(cards, request, options));
      },
    );
  };
}

function mediaType(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

async function importBody(
  cards: CardOperations,
  { actor, raw: source }: Pick<FastifyRequest, 'actor' | 'raw'>,
  options: Parameters<CardOperations['import']>[2],
) {
  // The import may give up early and destroy its input. The connection must outlive that, to carry the answer.
  const input = new PassThrough();
  source.once('error', (error) => input.destroy(error));
  source.pipe(input);
  try {
    return await cards.import(actor, input, options);
  } catch (error) {
    if (source.errored !== null) {
      throw new CardpollError('bad_data', 'upload_aborted', 'the upload ended early', { cause: error });
    }
    throw error;
  } finally {
    // The rest of the body is read and dropped: only then does the client read the answer.
    source.unpipe(input);
    source.resume();
  }
}
