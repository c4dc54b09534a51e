// POST /api/admin/cards/import: streams a file of cards into the import as it arrives. The file has any size and may take any
// time: the body limit and the time limit of the other routes do not apply; the import's own pace slows the sender down. POST
// cards/import/preview reads a file in the same way, writes nothing, and answers while it reads.
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ACCEPTED_OVER_PACKAGE } from '../../domain/cards/card.ts';
import type { CardOperations } from '../../operations/cards/cards.ts';
import { CardpollError } from '../../platform/errors.ts';
import { toWire } from '../../platform/snake-keys.ts';
import { type ImportFormat, importReport } from '../../resources/cards.ts';
import { FILE_ENDPOINTS } from '../../resources/endpoints.ts';
import { problemOf } from '../problem.ts';
import { answersOf, serveOn, textOf } from '../schemas/answers.ts';
import { queryNumber, queryYesOrNo } from '../schemas/fields.ts';

const NDJSON = 'application/x-ndjson';
const FORMATS: Record<string, ImportFormat> = { 'text/csv': 'csv', [NDJSON]: 'ndjson' };
const CONTENT_TYPES = Object.keys(FORMATS);
const choice = queryYesOrNo.prefault('false');
const howToRead = z.object({
  ignore_columns: choice.describe('Ignore unknown columns instead of refusing the file'),
  overwrite_verified: choice.describe('real_name_verified overwrites what polls have found'),
});
/** The body is only described: the handler reads the file from the connection. */
const file = { consumes: CONTENT_TYPES, body: z.unknown() };
const answers = answersOf('cards');

export function cardImportRoutes(app: FastifyInstance, cards: CardOperations): void {
  const serve = serveOn(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(CONTENT_TYPES, (_request, _payload, done) => done(null));
  serve(
    FILE_ENDPOINTS.importCards,
    answers(
      'Import cards from CSV or NDJSON',
      importReport,
      {
        ...file,
        querystring: howToRead.extend({
          dry_run: choice.describe('Check and count, and write nothing'),
          accept_over_package: queryNumber({ min: 0, max: Number.MAX_SAFE_INTEGER })
            .default(ACCEPTED_OVER_PACKAGE)
            .describe('The import ends before it puts more running cards over their package of the month'),
          refuse_doubtful: choice.describe(
            'The import ends before it writes ICCIDs that a spreadsheet may have rounded, or that another card has with or without its check digit',
          ),
        }),
      },
      { streamedBody: true },
    ),
    async ({ actor, raw, headers, query }) => {
      const options = { ...query, format: formatOf(headers) };
      return readBody(raw, (input) => cards.import(actor, input, options));
    },
  );
  serve(
    FILE_ENDPOINTS.previewImport,
    answers(
      'Try an import: the cards it would update, as they are, and its report',
      textOf(
        'One JSON object a line. Each is a row of an import that takes the update of a card back; the last one is the report, or the problem of a file that is refused',
        NDJSON,
      ),
      { ...file, querystring: howToRead },
      { streamedBody: true },
    ),
    async ({ raw, headers, query }, reply) => {
      const options = { ...query, format: formatOf(headers) };
      const lines = new PassThrough();
      const report = readBody(raw, (input) =>
        cards.preview(input, options, (former) => {
          lines.emit('begun');
          return write(lines, former);
        }),
      );
      // A file that is refused as a whole has no line before the refusal.
      await Promise.race([report, once(lines, 'begun')]);
      report.then(
        (counts) => lines.end(`${JSON.stringify(toWire(counts))}\n`),
        // The status is already sent, so the last line has the reason why a file is refused.
        (error) => {
          if (isRefused(error) && raw.errored === null) lines.end(`${JSON.stringify(problemOf(error))}\n`);
          else lines.destroy(error);
        },
      );
      return reply.type(NDJSON).send(lines as unknown as string);
    },
  );
}

function isRefused(error: unknown): boolean {
  return error instanceof CardpollError && error.kind === 'bad_data';
}

/** @throws CardpollError `bad_data` without a file. */
function formatOf({ 'content-type': contentType = '' }: IncomingHttpHeaders): ImportFormat {
  const format = FORMATS[contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''];
  if (format !== undefined) return format;
  throw new CardpollError('bad_data', 'empty_body', 'there is no file in the request');
}

async function readBody<Result>(
  source: IncomingMessage,
  read: (input: Readable) => Promise<Result>,
): Promise<Result> {
  // The import may give up early and destroy its input. The connection must outlive that, to carry the answer.
  const input = new PassThrough();
  // An upload may fail before its import begins to read; the reader still gets the error.
  input.on('error', () => {});
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
    // The rest of the body is read and dropped, because only then does the client read the answer.
    source.unpipe(input);
    source.resume();
  }
}

/** Resolves when the reader has room for more; rejects when it has left. */
function write(lines: PassThrough, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    lines.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
