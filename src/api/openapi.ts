// The OpenAPI document, made from the same schemas that check requests and answers. Used by server.ts.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { IDEMPOTENCY_KEY } from './idempotency.ts';
import { PROBLEM_TYPE, problemSchema } from './problem.ts';

export function openapiOptions(version: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'cardpoll admin API', version },
      security: [{ bearer: [] }, {}],
      components: {
        securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      },
    },
    transform: (route) => {
      const transformed = jsonSchemaTransform(route);
      const { schema } = transformed;
      return { ...transformed, schema: { ...schema, ...errorsOf(schema), ...repeatableOf(route.route) } };
    },
  };
}

/** Every operation may answer with a problem. */
function errorsOf(schema: { readonly response?: unknown; readonly hide?: boolean }) {
  if (schema.hide === true) return {};
  const problem = { description: 'A problem', content: { [PROBLEM_TYPE]: { schema: problemJsonSchema } } };
  return { response: { ...(schema.response as object), default: problem } };
}

/** POST takes an Idempotency-Key (idempotency.ts); the card import, which streams, is repeatable without one. */
function repeatableOf({ method, schema }: RouteOptions) {
  if (method !== 'POST' || schema?.consumes !== undefined) return {};
  return { headers: { type: 'object', properties: { [IDEMPOTENCY_KEY]: IDEMPOTENCY_KEY_SCHEMA } } };
}

const IDEMPOTENCY_KEY_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 128,
  description:
    'Makes the request safe to send again: within 24 hours the same request with the same key runs once and gets the same answer, marked Idempotent-Replayed.',
};

const { $schema: _, ...problemJsonSchema } = z.toJSONSchema(problemSchema);
