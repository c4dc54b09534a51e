// Rows as this program reads them. A column's name becomes camelCase: `card_id` is cardId. A time is epoch milliseconds,
// and its name ends in Ms: `fired_at` is firedAtMs. A name with dots is a field of an object in the row: `jump.factor`. Both
// drivers answer with arrays of values and call this at their edge.
import { camelCase, snakeKeys } from '../../../platform/snake-keys.ts';
import type { SqlValue } from './sql-client.ts';

/** PostgreSQL's type `timestamp with time zone`. */
export const TIMESTAMPTZ_OID = 1184;

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

type Row = Record<string, unknown>;

export function namedRows(fields: readonly Field[], rows: ReadonlyArray<readonly unknown[]>): Row[] {
  const paths = fields.map(({ name, dataTypeID }) =>
    `${camelCase(name)}${dataTypeID === TIMESTAMPTZ_OID ? 'Ms' : ''}`.split('.'),
  );
  return rows.map((values) => {
    const row: Row = {};
    for (let i = 0; i < paths.length; i += 1) put(row, paths[i] as string[], values[i]);
    return row;
  });
}

/** An object is null if its first value is null. */
function put(row: Row, path: readonly string[], value: unknown): void {
  let owner: Row | null = row;
  for (let i = 0; i < path.length - 1 && owner !== null; i += 1) {
    const name = path[i] as string;
    if (owner[name] === undefined) owner[name] = value === null ? null : {};
    owner = owner[name] as Row | null;
  }
  if (owner !== null) owner[path.at(-1) as string] = value;
}

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)?([+-]\d\d)(:\d\d)?$/;

/**
 * `2026-11-23 22:47:25.123456+00` -> epoch milliseconds, rounded. Throws RangeError for a text without one (infinity), and for
 * any DateStyle but ISO.
 */
export function epochMs(text: string): number {
  const [, day, time, fraction = '', hours, minutes = ':00'] = TIME.exec(text) ?? [];
  if (hours === undefined) throw new RangeError(`'${text}' is not a time of DateStyle ISO`);
  return Date.parse(`${day}T${time}${hours}${minutes}`) + Math.round(Number(`0${fraction}`) * 1000);
}

/** @returns JSON with the names of columns, as jsonb_populate_record() and jsonb_to_recordset() take it in a statement. */
export function jsonOf(value: object): string {
  return JSON.stringify(snakeKeys(value), keepable);
}

/** PostgreSQL stores neither NUL nor half a surrogate pair. */
function keepable(_key: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd') : value;
}

/** @returns an array for each field, as unnest() takes it in a statement. */
export function arraysOf<Item extends object>(
  items: readonly Item[],
  ...fields: ReadonlyArray<keyof Item>
): SqlValue[] {
  return fields.map((field) => items.map((item) => item[field] as Exclude<SqlValue, readonly unknown[]>));
}
