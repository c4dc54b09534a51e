// Rows as this program reads them. A column's name becomes camelCase: `card_id` is cardId. A time is epoch milliseconds,
// and its name ends in Ms: `fired_at` is firedAtMs. Both drivers answer with arrays of values and call this at their edge.
import { camelCase } from '../../../platform/snake-keys.ts';

/** PostgreSQL's type `timestamp with time zone`. */
export const TIMESTAMPTZ_OID = 1184;

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

export function namedRows(
  fields: readonly Field[],
  rows: ReadonlyArray<readonly unknown[]>,
): Array<Record<string, unknown>> {
  const names = fields.map(({ name, dataTypeID }) =>
    dataTypeID === TIMESTAMPTZ_OID ? `${camelCase(name)}Ms` : camelCase(name),
  );
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i += 1) row[names[i] as string] = values[i];
    return row;
  });
}

const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)?([+-]\d\d)(:\d\d)?$/;

/**
 * `2026-11-23 22:47:25.123456+00` -> epoch milliseconds, rounded. Throws RangeError for what has none (infinity), and for
 * any DateStyle but ISO.
 */
export function epochMs(text: string): number {
  const [, day, time, fraction = '', hours, minutes = ':00'] = TIME.exec(text) ?? [];
  if (hours === undefined) throw new RangeError(`'${text}' is not a time of DateStyle ISO`);
  return Date.parse(`${day}T${time}${hours}${minutes}`) + Math.round(Number(`0${fraction}`) * 1000);
}

/** @returns the first row of an answer; null without one. */
export async function firstOf<Row>(answer: Promise<Row[]>): Promise<Row | null> {
  const [row = null] = await answer;
  return row;
}
