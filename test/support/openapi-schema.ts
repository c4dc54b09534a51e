// The shape of an OpenAPI 3.1 document as JSON Schema: the parts that a description of an HTTP API without
// callbacks, links and webhooks uses. Anything else in the document is an error. The schemas inside the document
// are checked against JSON Schema 2020-12 itself.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const described = { description: { type: 'string' } };
const map = (values: object) => ({ type: 'object', additionalProperties: values });
const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const OPENAPI_3_1 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...object(
    {
      openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
      info: object(
        { title: { type: 'string' }, version: { type: 'string' }, summary: { type: 'string' }, ...described },
        ['title', 'version'],
      ),
      servers: { type: 'array', items: object({ url: { type: 'string' }, ...described }, ['url']) },
      paths: { type: 'object', patternProperties: { '^/': ref('path') }, additionalProperties: false },
      components: object({
        securitySchemes: map({ type: 'object', required: ['type'] }),
        schemas: map(ref('schema')),
      }),
      security: { type: 'array', items: map({ type: 'array', items: { type: 'string' } }) },
      tags: { type: 'array', items: object({ name: { type: 'string' }, ...described }, ['name']) },
    },
    ['openapi', 'info', 'paths'],
  ),
  $defs: {
    path: object(
      Object.fromEntries(
        ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'].map((method) => [
          method,
          ref('operation'),
        ]),
      ),
    ),
    operation: object(
      {
        ...described,
        summary: { type: 'string' },
        operationId: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
        parameters: { type: 'array', items: ref('parameter') },
        requestBody: object({ ...described, content: ref('content'), required: { type: 'boolean' } }, [
          'content',
        ]),
        responses: {
          type: 'object',
          minProperties: 1,
          patternProperties: { '^([1-5](\\d\\d|XX)|default)$': ref('response') },
          additionalProperties: false,
        },
        security: { type: 'array' },
        deprecated: { type: 'boolean' },
      },
      ['responses', 'summary', 'tags'],
    ),
    parameter: {
      ...object(
        {
          ...described,
          name: { type: 'string', minLength: 1 },
          in: { enum: ['query', 'header', 'path', 'cookie'] },
          required: { type: 'boolean' },
          schema: ref('schema'),
        },
        ['name', 'in', 'schema'],
      ),
      if: { properties: { in: { const: 'path' } } },
      // biome-ignore lint/suspicious/noThenProperty: it is JSON Schema
      then: { properties: { required: { const: true } }, required: ['required'] },
    },
    response: object({ ...described, headers: map({ type: 'object' }), content: ref('content') }, [
      'description',
    ]),
    content: map(object({ schema: ref('schema') }, ['schema'])),
    schema: { type: ['object', 'boolean'] },
  },
};

interface Documented {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** What is wrong with a document; empty when it is valid. */
export function problemsOfOpenApi(document: Documented): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(OPENAPI_3_1);
  const problems = validate(document)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  for (const [where, schema] of schemasIn(document, '')) {
    if (!ajv.validateSchema(schema)) problems.push(`${where}: ${ajv.errorsText(ajv.errors)}`);
  }
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      problems.push(...undeclaredParameters(path, operation).map((name) => `${method} ${path}: {${name}}`));
    }
  }
  return problems;
}

/** Compiling takes a thousand times as long as looking. */
const validators = new WeakMap<object, ValidateFunction>();

/** Tells whether a value fits a schema; says why not. */
export function misfit(schema: object, value: unknown): string | null {
  const validate =
    validators.get(schema) ?? new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  validators.set(schema, validate);
  if (validate(value)) return null;
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ');
}

function* schemasIn(node: unknown, where: string): Generator<[string, object]> {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, inner] of Object.entries(node)) {
    if (name === 'schema') yield [`${where}/schema`, inner];
    else yield* schemasIn(inner, `${where}/${name}`);
  }
}

function undeclaredParameters(path: string, operation: unknown): string[] {
  const { parameters = [] } = operation as { parameters?: ReadonlyArray<{ in: string; name: string }> };
  const declared = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const used = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  return [
    ...used.filter((name) => !declared.includes(name)),
    ...declared.filter((name) => !used.includes(name)),
  ];
}
