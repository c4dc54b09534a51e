// Sends drawn requests to a daemon and judges its answers: none is a failure, none stays out, none accepts what the
// description forbids, each is what the description says. Used by test/long/fuzz-api.test.ts.
import fc from 'fast-check';
import { type Dispatcher, request } from 'undici';
import { messageOf } from '../../src/platform/errors.ts';
import { type DrawnRequest, drawnRequest, type Operation, operationsOf } from './drawn-requests.ts';
import { misfit } from './openapi-schema.ts';
import type { Schema } from './schema-samples.ts';

export interface FuzzOptions {
  readonly url: string;
  /** Makes the same requests again. */
  readonly seed: number;
  readonly requests: number;
}

export interface FuzzReport {
  /** Requests by the status they got. */
  readonly statuses: Readonly<Record<string, number>>;
  /** What is wrong and how to see it again; null when nothing is. */
  readonly failure: string | null;
}

/** No answer of an API over healthy stores takes as long. */
const HANG_MS = 60_000;
/** Names of things there are. */
const KNOWN = { task_type: 'realname', id: '1', card: '1' };

export async function fuzzApi({ url, seed, requests }: FuzzOptions): Promise<FuzzReport> {
  const document = await (await fetch(`${url}/openapi.json`)).json();
  const statuses: Record<string, number> = {};
  const property = fc.asyncProperty(drawnRequest(operationsOf(document), KNOWN), async (drawn) => {
    const answer = await send(url, drawn);
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const wrong = judge(drawn, answer);
    if (wrong !== null) throw new Error(wrong);
  });
  const details = await fc.check(property, { seed, numRuns: requests });
  const [drawn] = details.counterexample ?? [];
  if (drawn === undefined) return { statuses, failure: null };
  const { operation, url: target, headers, body } = drawn;
  const sent = JSON.stringify({ headers, body: body?.slice(0, SHOWN_LENGTH) });
  const why = messageOf(details.errorInstance).slice(0, SHOWN_LENGTH);
  return { statuses, failure: `seed ${seed}: ${operation.method} ${target} ${sent}: ${why}` };
}

const SHOWN_LENGTH = 500;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
}

async function send(url: string, { operation, url: target, headers, body }: DrawnRequest): Promise<Answer> {
  const answer = await request(`${url}${target}`, {
    method: operation.method as Dispatcher.HttpMethod,
    headers: { ...headers },
    body,
    signal: AbortSignal.timeout(HANG_MS),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, type: String(answer.headers['content-type'] ?? ''), text };
}

/** What is wrong with an answer, or null. */
export function judge(drawn: DrawnRequest, { status, type, text }: Answer): string | null {
  if (status >= 500) return `failed with ${status}: ${text}`;
  if (status >= 400) return problemWith(status, type, text);
  const forbidden = forbiddenIn(drawn);
  if (forbidden !== null) return `accepted with ${status}, although ${forbidden}`;
  const schema = drawn.operation.responses[status]?.content?.['application/json']?.schema;
  const unlike = schema === undefined || text === '' ? null : misfit(schema, JSON.parse(text));
  return unlike === null ? null : `answered otherwise than described: ${unlike}`;
}

function problemWith(status: number, type: string, text: string): string | null {
  if (!type.startsWith('application/problem+json')) return `${status} is no problem: ${type} ${text}`;
  const problem = JSON.parse(text) as { status?: unknown; code?: unknown; detail?: unknown };
  const whole = problem.status === status && problem.code && typeof problem.detail === 'string';
  return whole ? null : `the problem is not whole: ${text}`;
}

/** Where the request is not what the description allows. */
function forbiddenIn({ operation, meaning }: DrawnRequest): string | null {
  if (meaning === undefined) return null;
  const body = operation.body === null ? null : misfit(operation.body, meaning.json);
  if (body !== null) return `the body: ${body}`;
  for (const { in: place, name, schema } of operation.parameters) {
    const value = meaning.query[name];
    if (place !== 'query' || value === undefined) continue;
    const wrong = fitsAsText(schema, value) ? null : JSON.stringify(value);
    if (wrong !== null) return `the query: ${name} is ${wrong}`;
  }
  return null;
}

/** Parameters are texts; numbers are written as such. */
function fitsAsText(schema: Schema, value: string): boolean {
  return misfit(schema, value) === null || (/^-?\d+$/.test(value) && misfit(schema, Number(value)) === null);
}

export type { Operation };
