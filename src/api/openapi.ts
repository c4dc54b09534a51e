// The OpenAPI document, made from the same schemas that check requests and answers. Used by server.ts. Schemas with an id
// are in components under their name, so that generated clients have types for them.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { camelCase } from '../platform/snake-keys.ts';
import { IDEMPOTENCY_KEY } from './guard/idempotency.ts';
import { PROBLEM_TYPE } from './problem.ts';

const ADMIN = '/api/admin';
const TAGS = [
  { name: 'polling-stats', description: 'Statistics of the fleet, current and recent' },
  { name: 'polling-alerts', description: 'Alert rules, fired alerts, silences and notifications' },
  { name: 'polling-concurrency', description: 'How many gateway calls run at a time' },
  { name: 'polling-pauses', description: 'Pauses of polling' },
  { name: 'maintenance', description: 'Maintenance windows, planned ahead' },
  { name: 'polling-configs', description: 'Which cards are polled, and how often' },
  { name: 'polling-manual-trigger', description: 'Manual polls of single cards or of many' },
  { name: 'data-cleanup', description: 'Retention, and the runs that enforce it' },
  { name: 'stops', description: 'Stopped cards: the mode, held stops, and the way back' },
  { name: 'cards', description: 'The fleet, card by card' },
  { name: 'report', description: 'What happened in a time, for a hand-over' },
  { name: 'audit', description: 'Who changed what' },
  { name: 'probes', description: 'Alive, ready, version, metrics, this description' },
];

export function openapiOptions(version: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'cardpoll admin API',
        version,
        description: 'Operates the polling of an IoT SIM fleet. Errors are problem details as in RFC 9457.',
      },
      servers: [{ url: '/', description: 'The instance that serves this document' }],
      tags: TAGS,
      security: [{ bearer: [] }, {}],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An admin token, if tokens are configured' },
        },
      },
    },
    transform: (route) => {
      const transformed = jsonSchemaTransform(route);
      const { schema } = transformed;
      if (schema.hide === true) return transformed;
      const added = {
        operationId: operationIdOf(route.route),
        response: { ...(schema.response as object), ...problemsOf(route.route) },
        ...repeatableOf(route.route),
        ...(isGuarded(route.route) ? {} : { security: [] }),
      };
      return { ...transformed, schema: { ...schema, ...added } };
    },
    transformObject: (document) => withoutInputs(jsonSchemaTransformObject(document)),
  };
}

type Document = ReturnType<typeof jsonSchemaTransformObject>;

/** Schemas with an id describe answers, so their input form is never used. */
function withoutInputs(document: Document): Document {
  if (!('components' in document)) return document;
  const schemas = Object.entries(document.components?.schemas ?? {}).filter(
    ([name]) => !name.endsWith('Input'),
  );
  return {
    ...document,
    components: { ...document.components, schemas: Object.fromEntries(schemas) },
  } as Document;
}

/** `PUT /api/admin/polling-configs/:id` -> `putPollingConfigsById`. */
function operationIdOf({ method, url }: RouteOptions): string {
  const path = url.replace(ADMIN, '').replaceAll('/:', '/by_').replaceAll(/[/.-]/g, '_');
  return camelCase(`${String(method).toLowerCase()}${path}`);
}

function isGuarded({ url }: RouteOptions): boolean {
  return url.startsWith(ADMIN) || url === '/metrics';
}

/** The error answers of an operation, by status. */
const PROBLEMS: Record<number, string> = {
  400: 'Malformed JSON or HTTP',
  401: 'The admin token is missing or not known',
  403: 'The token may not do this, or a foreign Host or Origin',
  404: 'There is nothing of that name',
  409: 'Not possible in the present state',
  412: 'The version If-Match names is not the present one',
  413: 'The body is too large',
  415: 'The body is of another type',
  422: 'A field is wrong',
  429: 'Too many requests',
  500: 'An internal error',
  503: 'A store does not answer, or the instance does not work',
};

function problemsOf(route: RouteOptions): Record<string, object> {
  const { method, url, schema = {} } = route;
  const changes = method !== 'GET';
  const statuses = [
    ...[400, 500, 503],
    ...(isGuarded(route) ? [401, 403, 429] : []),
    ...(url.includes('/:') ? [404] : []),
    ...(changes ? [409, 413, 415] : []),
    ...(method === 'PUT' ? [412] : []),
    ...(changes || schema.querystring !== undefined ? [422] : []),
  ];
  const entries = statuses.map((status) => [status, problem(PROBLEMS[status] ?? '')]);
  return { ...Object.fromEntries(entries), default: problem('A problem') };
}

function problem(description: string) {
  return { description, content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } } };
}

/** POST accepts an Idempotency-Key (idempotency.ts); the card import, which streams, is repeatable without one. */
function repeatableOf({ method, schema }: RouteOptions) {
  if (method !== 'POST' || schema?.consumes !== undefined) return {};
  return { headers: { type: 'object', properties: { [IDEMPOTENCY_KEY]: IDEMPOTENCY_KEY_SCHEMA } } };
}

const IDEMPOTENCY_KEY_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description:
    'Makes the request safe to send again: within 24 hours the same request with the same key takes effect once; a repeat waits for the first, and its answer says what the first did, marked Idempotent-Replayed.',
};
