// Draws requests from an OpenAPI document: valid ones, ones with one thing wrong, and hostile ones. Used by api-fuzz.ts.
// Knows no route by name.
import fc from 'fast-check';
import type { Schema } from './schema-samples.ts';

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** Of a JSON body; null where there is none. */
  readonly body: Schema | null;
  readonly responses: Readonly<Record<string, { readonly content?: Record<string, { schema: object }> }>>;
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly schema: Schema;
  readonly required?: boolean;
}

export interface DrawnRequest {
  readonly operation: Operation;
  /** Path and query as they are sent. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** What the body and the query mean; absent where that is not known. */
  readonly meaning?: { readonly json?: unknown; readonly query: Readonly<Record<string, string>> };
}

// biome-ignore lint/suspicious/noExplicitAny: a document as it is served
type Document = any;

/** Every operation of the document; references are followed. */
export function operationsOf(document: Document): Operation[] {
  return Object.entries(document.paths as Record<string, Record<string, Document>>).flatMap(([path, all]) =>
    Object.entries(all).map(([method, one]) => {
      const { parameters = [], requestBody, responses } = resolved(document, one) as Document;
      const body = requestBody?.content['application/json']?.schema ?? null;
      return { method: method.toUpperCase(), path, parameters, body, responses };
    }),
  );
}

function resolved(document: Document, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => resolved(document, one));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref } = node as { $ref?: string };
  if ($ref !== undefined) {
    const target = $ref.slice(2).split('/');
    return resolved(
      document,
      target.reduce((at: Document, key) => at[key], document),
    );
  }
  return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, resolved(document, inner)]));
}

/** @param known values that path parameters name something with. */
export function drawnRequest(
  operations: readonly Operation[],
  known: Readonly<Record<string, string>>,
): fc.Arbitrary<DrawnRequest> {
  const kinds = [validRequest, nearlyValidRequest, hostileRequest];
  return fc
    .tuple(fc.constantFrom(...operations), fc.constantFrom(...kinds))
    .chain(([operation, kind]) => kind(operation, known));
}

type Draw = (operation: Operation, known: Readonly<Record<string, string>>) => fc.Arbitrary<DrawnRequest>;

const JSON_TYPE = { 'content-type': 'application/json' };

const validRequest: Draw = (operation, known) =>
  fc
    .record({ path: pathOf(operation, known), query: queryOf(operation, textOf), json: bodyOf(operation) })
    .map(({ path, query, json }) => requestOf(operation, path, query, json));

/** One field of the body or one parameter is something else. */
const nearlyValidRequest: Draw = (operation, known) =>
  fc
    .record({
      path: pathOf(operation, known),
      query: queryOf(operation, (schema) => fc.oneof(textOf(schema), SHORT_TEXT)),
      json: bodyOf(operation).chain(spoiled),
    })
    .map(({ path, query, json }) => requestOf(operation, path, query, json));

const hostileRequest: Draw = (operation) =>
  fc
    .record({
      path: pathOf(operation, {}),
      query: fc.oneof(
        fc.constant(''),
        fc.webQueryParameters().map((text) => `?${text}`),
      ),
      type: fc.constantFrom('application/json', 'application/json; charset=utf-16', 'text/csv', 'x', ''),
      body: HOSTILE_BODY,
      key: fc.oneof(fc.constant(null), fc.string({ minLength: 1, maxLength: 200, unit: 'grapheme-ascii' })),
    })
    .map(({ path, query, type, body, key }) => ({
      operation,
      url: `${path}${query}`,
      headers: {
        ...(type === '' ? {} : { 'content-type': type }),
        ...(key === null ? {} : { 'idempotency-key': key.trim() }),
      },
      body: operation.method === 'GET' ? null : body,
    }));

function requestOf(
  operation: Operation,
  path: string,
  query: Readonly<Record<string, string>>,
  json: unknown,
): DrawnRequest {
  const asked = new URLSearchParams(query).toString();
  return {
    operation,
    url: asked === '' ? path : `${path}?${asked}`,
    headers: json === undefined ? {} : JSON_TYPE,
    body: json === undefined ? null : JSON.stringify(json),
    meaning: { json, query },
  };
}

const SHORT_TEXT = fc.string({ maxLength: 30, unit: 'binary' });
const HOSTILE_BODY = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 2_000 }),
  fc.json({ maxDepth: 6 }),
  fc.integer({ min: 1, max: 60_000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  fc.constantFrom('{"__proto__": {"a": 1}}', '{"a": 1, "a": 2}', '{"a": 1e999}', '"\\ud800"', '-', '\u0000'),
);

function pathOf(
  { path, parameters }: Operation,
  known: Readonly<Record<string, string>>,
): fc.Arbitrary<string> {
  const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const odd = fc.oneof(fc.nat().map(String), fc.bigInt().map(String), SHORT_TEXT).map((text) => text || '0');
  const value = (name: string) => {
    const usual = fc.constant(known[name] ?? '1');
    return Object.keys(known).length === 0 ? odd : fc.oneof({ weight: 3, arbitrary: usual }, odd);
  };
  return fc
    .record(Object.fromEntries(inPath.map((name) => [name, value(name)])))
    .map((values) => path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(values[name] ?? '1')));
}

/** `encodeURIComponent` throws for half a character; `.` and `..` are no values but steps. */
function encoded(text: string): string {
  const whole = wellFormed(text);
  return /^\.{1,2}$/.test(whole) ? '%2E' : encodeURIComponent(whole);
}

function queryOf(
  { parameters }: Operation,
  draw: (schema: Schema) => fc.Arbitrary<string>,
): fc.Arbitrary<Record<string, string>> {
  const inQuery = parameters.filter((one) => one.in === 'query');
  const required = inQuery.filter((one) => one.required === true).map(({ name }) => name);
  const values = Object.fromEntries(inQuery.map(({ name, schema }) => [name, draw(schema).map(wellFormed)]));
  return fc.record(values, { requiredKeys: required }) as fc.Arbitrary<Record<string, string>>;
}

/** Without halves of characters, which no UTF-8 can hold. */
const wellFormed = (text: string) => Buffer.from(text).toString();
const textOf = (schema: Schema) => fitting(schema).map((value) => String(value));

function bodyOf({ body }: Operation): fc.Arbitrary<unknown> {
  return body === null ? fc.constant(undefined) : fitting(body);
}

/** Values that fit a schema, as far as the schema tells. */
function fitting(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return fc.oneof(...alternatives.map(fitting));
  const types = [schema.type ?? 'object'].flat();
  return fc.oneof(...types.map((type) => fittingType(type, schema)));
}

function fittingType(type: string, schema: Schema): fc.Arbitrary<unknown> {
  const { minimum = -1_000_000, maximum = 1_000_000, minLength = 0, maxLength = 40 } = schema;
  switch (type) {
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(([name, one]) => [name, fitting(one)]);
      return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] as never[] });
    }
    case 'array':
      return fc.array(fitting(schema.items ?? {}), { minLength: schema.minItems ?? 0, maxLength: 5 });
    case 'integer':
      return fc.integer({ min: Math.max(minimum, -(2 ** 31)), max: Math.min(maximum, 2 ** 31 - 1) });
    case 'number':
      return fc.double({ min: minimum, max: maximum, noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.string({ minLength, maxLength: Math.min(maxLength, 200), unit: 'grapheme' });
  }
}

/** The same value, or nearly: a field replaced, taken away or added. */
function spoiled(value: unknown): fc.Arbitrary<unknown> {
  if (value === undefined) return fc.constant(undefined);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fc.jsonValue();
  const names = Object.keys(value);
  const field = fc.constantFrom(...names, 'no_such_field');
  const without = (name: string) => Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
  return fc.oneof(
    fc.tuple(field, ODD_VALUE).map(([name, odd]) => ({ ...value, [name]: odd })),
    field.map(without),
    fc.jsonValue(),
  );
}

const ODD_VALUE = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    1e308,
    '',
    ' ',
    '\u0000',
    '\u001b[2J',
    '\ud83d',
    [],
    {},
    null,
  ),
  fc.string({ minLength: 201, maxLength: 400 }),
);
