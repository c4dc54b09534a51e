// Names at the edges: camelCase inside, snake_case in JSON. Used by the API and its client, by imports, and by the stores.

type SnakeCase<Name extends string> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Tail>}`
  : Name;

const KNOWN_NAMES = 1_000;

/** An answer repeats a few names ten thousand times: converting each would cost more than the rest of the answer. */
function remembered(convert: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const converted = convert(name);
    if (known.size < KNOWN_NAMES) known.set(name, converted);
    return converted;
  };
}

const toSnakeCase = remembered((name) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`));

/** `maxConcurrency` -> `max_concurrency`; snake_case is unchanged. */
export function snakeCase<Name extends string>(name: Name): SnakeCase<Name> {
  return toSnakeCase(name) as SnakeCase<Name>;
}

/** `max_concurrency` -> `maxConcurrency`; camelCase stays. */
export const camelCase = remembered((name) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
);

/** Converts the keys of plain data deeply; a Date becomes an RFC 3339 time in UTC. */
export function snakeKeys(value: unknown): unknown {
  return withKeys(value, snakeCase);
}

/** The JSON form of T: names in snake_case, a Date as an RFC 3339 time in UTC. */
export type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T as Key extends string ? SnakeCase<Key> : never]: Wire<T[Key]> }
      : T;

/** The edge between results and the JSON of the contract: `snakeKeys` with its type. No other code renames a field. */
export function toWire<T>(value: T): Wire<T> {
  return snakeKeys(value) as Wire<T>;
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** T with names in camelCase. */
export type CamelKeys<T> = T extends readonly (infer Item)[]
  ? CamelKeys<Item>[]
  : T extends object
    ? { [Key in keyof T as Key extends string ? CamelCase<Key> : never]: CamelKeys<T[Key]> }
    : T;

/** Converts the keys of plain data deeply. */
export function camelKeys<T>(value: T): CamelKeys<T> {
  return withKeys(value, camelCase) as CamelKeys<T>;
}

function withKeys(value: unknown, named: (key: string) => string): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((item) => withKeys(item, named));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [named(key), withKeys(inner, named)]),
  );
}
