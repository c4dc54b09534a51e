// POST /api/admin/cards/import: a file of cards, streamed into the import as it arrives. Of any size and for as long
// as it takes: neither the body limit nor the time limit of the other routes holds here; the import's own pace holds
// the sender back. POST cards/import/preview reads a file in the same way, writes nothing, and answers while it reads.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { ACCEPTED_OVER_PACKAGE } from '../../domain/cards/card.ts';
import type { ImportFormat } from '../../operations/cards/card-import.ts';
import { importReport } from '../../operations/cards/card-report.ts';
import type { CardOperations } from '../../operations/cards/cards.ts';
import { CardpollError } from '../../platform/errors.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { wireSchema } from '../schemas/answers.ts';

const NDJSON = 'application/x-ndjson';
const FORMATS: Record<string, ImportFormat> = { 'text/csv': 'csv', [NDJSON]: 'ndjson' };
const CONTENT_TYPES = Object.keys(FORMATS);
const choice = z.enum(['true', 'false'], { error: 'must be true or false' }).default('false');
const howToRead = z.object({
  ignore_columns: choice.describe('Ignore unknown columns instead of refusing the file'),
  overwrite_verified: choice.describe('real_name_verified false overwrites what polls have found'),
});

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
          querystring: howToRead.extend({
            dry_run: choice.describe('Check and count, and write nothing'),
            accept_over_package: z.coerce
              .number('must be a number of cards')
              .int('must be a number of cards')
              .min(0, 'must be 0 or more')
              .default(ACCEPTED_OVER_PACKAGE)
              .describe('The import ends before it puts more running cards over their package of the month'),
          }),
          response: { 200: wireSchema(importReport) },
        },
      },
      async (request) => {
        const options = {
          ...howToReadOf(request),
          dryRun: request.query.dry_run === 'true',
          acceptOverPackage: request.query.accept_over_package,
        };
        const { actor } = request;
        return readBody(request.raw, (input) => cards.import(actor, input, options));
      },
    );
    app.post(
      '/cards/import/preview',
      {
        config: { streamedBody: true },
        schema: {
          tags: ['cards'],
          summary: 'Try an import: the cards it would update, as they are, and its report',
          consumes: CONTENT_TYPES,
          body: z.unknown(),
          querystring: howToRead,
          response: {
            200: {
              description:
                'One JSON object a line. Each is a row of an import that takes the update of a card back; the last one is the report',
              content: { [NDJSON]: { schema: z.string() } },
            },
          },
        },
      },
      async (request, reply) => {
        const options = howToReadOf(request);
        const lines = new AnsweredLines();
        const report = readBody(request.raw, (input) =>
          cards.preview(input, options, (former) => lines.write(former)),
        );
        // A file that is refused as a whole has no line before that.
        await Promise.race([report, lines.begun]);
        lines.endWith(report.then((counts) => `${JSON.stringify(toWire(counts))}\n`));
        return reply.type(NDJSON).send(lines.text as unknown as string);
      },
    );
  };
}

function mediaType(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** @throws CardpollError `bad_data` without a file. */
function howToReadOf({
  headers,
  query,
}: {
  headers: IncomingHttpHeaders;
  query: z.output<typeof howToRead>;
}) {
  const format = FORMATS[mediaType(headers['content-type'] ?? '')];
  if (format === undefined) {
    throw new CardpollError('bad_data', 'empty_body', 'there is no file in the request');
  }
  return {
    format,
    ignoreColumns: query.ignore_columns === 'true',
    overwriteVerified: query.overwrite_verified === 'true',
  };
}

async function readBody<Result>(
  source: IncomingMessage,
  read: (input: Readable) => Promise<Result>,
): Promise<Result> {
  // The import may give up early and destroy its input. The connection must outlive that, to carry the answer.
  const input = new PassThrough();
  source.once('error', (error) => input.destroy(error));
  source.pipe(input);
  try {
    return await read(input);
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

/** An answer that is written while its request is read: lines now, and one at the end. */
class AnsweredLines {
  readonly text = new PassThrough();
  #begin = () => {};
  /** Resolves with the first line. */
  readonly begun = new Promise<void>((resolve) => {
    this.#begin = resolve;
  });

  /** Resolves when the reader has room for more; rejects when it has left. */
  write(lines: string): Promise<void> {
    this.#begin();
    return new Promise((resolve, reject) => {
      this.text.write(lines, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the answer with this line, or breaks it off: its status has been sent by then. */
  endWith(last: Promise<string>): void {
    last.then(
      (line) => this.text.end(line),
      (error) => this.text.destroy(error),
    );
  }
}
