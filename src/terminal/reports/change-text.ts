// The effect of a change in the audit trail, in words. Used by commands that change something, the audit command and the
// dashboard.
import { isDeepStrictEqual } from 'node:util';
import { roundedMb } from '../../domain/numbers.ts';
import { span } from '../../domain/words.ts';
import type { AuditBody } from '../../resources/audit.ts';

/** `max_concurrency 100 -> 150`: the fields that differ, or all fields of a created or deleted object. */
export function changeText({ before, after }: Pick<AuditBody, 'before' | 'after'>): string {
  const [from, to] = [fieldsOf(before), fieldsOf(after)];
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return names
    .filter((name) => !isDeepStrictEqual(from[name] ?? null, to[name] ?? null))
    .map((name) => {
      const [was, is] = [from[name], to[name]].map((value) => fieldText(name, value));
      // Of a pause: `for 8h`.
      if (!(name in from)) return `${name === 'seconds' ? 'for' : name} ${is}`;
      if (!(name in to)) return `was ${name} ${was}`;
      return `${name} ${was} -> ${is}`;
    })
    .join(', ');
}

function fieldText(name: string, value: unknown): string {
  if (typeof value === 'number' && name === 'seconds') return span(value);
  return valueText(typeof value === 'number' && name.endsWith('_mb') ? roundedMb(value) : value);
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** A value in the words of the fields. */
export function valueText(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value === '' ? 'none' : value;
  return value === null || value === undefined ? 'none' : JSON.stringify(value);
}
