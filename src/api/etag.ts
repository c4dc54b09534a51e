// Versions over HTTP: changeable objects have an ETag, and a PUT with If-Match changes an object only if it still has that
// version; otherwise the answer is 412. Used by the routes. operations/requirements.ts defines a version.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ExpectedVersion } from '../operations/requirements.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The version of the route's answer. */
    versionOf?: (report: never) => string;
  }
}

export const ifMatchHeader = z.object({
  'if-match': z.string().optional().meta({
    description: 'ETag of the version that is to be changed; 412 when it is no longer that one.',
  }),
});

export function etagOf(version: string): string {
  return `"${version}"`;
}

/** Sends the version of the answer. */
export function sendVersion(
  { routeOptions: { config } }: FastifyRequest,
  reply: FastifyReply,
  report: unknown,
): void {
  if (config.versionOf !== undefined) reply.header('etag', etagOf(config.versionOf(report as never)));
}

/** Strong tags only: a weak tag, or a malformed one, names no version. */
export function expectedVersion(headers: z.output<typeof ifMatchHeader>): ExpectedVersion {
  const given = headers['if-match'];
  if (given === undefined) return null;
  if (given.trim() === '*') return 'any';
  return [...given.matchAll(/(?:^|,)\s*"([^"]*)"\s*(?=,|$)/g)].map(([, tag = '']) => tag);
}
