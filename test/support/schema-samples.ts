// Values made from JSON Schemas, as the API's description holds them: one that fits, and some that do not. Used by the
// black-box test of the API, which knows no route by name.

export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Texts of a form that a schema does not tell. */
const KNOWN: Readonly<Record<string, string>> = {
  url: 'https://hooks.example/cardpoll',
  secret: `whsec_${'A'.repeat(32)}`,
  format: 'standard',
  template: 'standard',
};

/** A value that fits, optional properties included. */
export function sampleOf(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [alternative] = schema.anyOf ?? schema.oneOf ?? [];
  if (alternative !== undefined) return sampleOf(alternative);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, inner]) => [
          name,
          KNOWN[/_(url|secret|format|template)$/.exec(name)?.[1] ?? ''] ?? sampleOf(inner),
        ]),
      );
    case 'array':
      return schema.items === undefined ? [] : [sampleOf(schema.items)];
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return 'x'.repeat(schema.minLength ?? 1);
  }
}

/** Values that do not fit: of no type that is accepted, and just out of bounds. */
export function misfitsOf(schema: Schema): unknown[] {
  const { minimum, maximum, minLength, maxLength, minItems } = schema;
  const wrongType = [{ not: 'expected' }, ...(accepts(schema, 'null') ? [] : [null])];
  return [
    ...wrongType,
    ...(accepts(schema, 'string') ? [] : ['text']),
    ...(accepts(schema, 'boolean') ? [] : [true]),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? [] : [maximum + 1]),
    ...(schema.type === 'integer' ? [1.5] : []),
    ...(minLength === undefined || minLength === 0 ? [] : ['']),
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(minItems === undefined || minItems === 0 ? [] : [[]]),
    ...(schema.enum === undefined ? [] : ['none-of-these']),
  ];
}

function accepts(schema: Schema, type: string): boolean {
  const { enum: values, anyOf = [], oneOf = [] } = schema;
  if (values !== undefined) return values.some((value) => (value === null ? 'null' : typeof value) === type);
  return [schema.type].flat().includes(type) || [...anyOf, ...oneOf].some((one) => accepts(one, type));
}
