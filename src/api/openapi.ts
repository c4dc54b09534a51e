// The OpenAPI document, made from the same schemas that check requests and answers. Used by server.ts.
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
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
      return { ...transformed, schema: { ...transformed.schema, ...errorsOf(transformed.schema) } };
    },
  };
}

/** Every operation may answer with a problem. */
function errorsOf(schema: { readonly response?: unknown; readonly hide?: boolean }) {
  if (schema.hide === true) return {};
  const problem = { description: 'A problem', content: { [PROBLEM_TYPE]: { schema: problemJsonSchema } } };
  return { response: { ...(schema.response as object), default: problem } };
}

const { $schema: _, ...problemJsonSchema } = z.toJSONSchema(problemSchema);
