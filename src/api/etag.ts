// Versions over HTTP: what can be changed comes with an ETag, and a PUT with If-Match changes only what is still in that
// version; otherwise it is answered with 412. Used by the routes. operations/requirements.ts defines a version.
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { ExpectedVersion } from '../operations/requirements.ts';
import { toWire } from '../platform/snake-keys.ts';

/** Headers of a PUT. */
export const ifMatchHeader = z.object({
  'if-match': z.string().optional().meta({
    description: 'ETag of the version that is to be changed; 412 when it is no longer that one.',
  }),
});

export function etagOf(version: string): string {
  return `"${version}"`;
}

/** The answer to a request for what can be changed, with its version. */
export function withVersion<Report>(
  reply: FastifyReply,
  report: Report,
  versionOf: (report: Report) => string,
) {
  reply.header('etag', etagOf(versionOf(report)));
  return toWire(report);
}

/** Strong tags only: a weak one, or what is no tag, names no version. */
export function expectedVersion(headers: z.output<typeof ifMatchHeader>): ExpectedVersion {
  const given = headers['if-match'];
  if (given === undefined) return null;
  if (given.trim() === '*') return 'any';
  return [...given.matchAll(/(?:^|,)\s*"([^"]*)"\s*(?=,|$)/g)].map(([, tag = '']) => tag);
}
