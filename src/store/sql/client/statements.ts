// Reads the statements of a .sql file: each begins with a line `-- name: subject.statement` and ends where the next
// one begins. Used by every file that sends SQL: x.ts sends the statements of x.sql next to it
// (docs/decisions/0024-statements-by-name.md).
import type { PreparedSql } from './sql-client.ts';

const BEGINNING = /^-- name: ([a-z_]+\.(\w+))$/m;
/** Servers show only the beginning of what they run: it is the statement. */
const HEADER = /^(--.*\n)+/;

/** @param names all statements of the file. Throws when one is missing from the file or from the names. */
export function statements<Name extends string>(
  file: string,
  ...names: readonly Name[]
): Readonly<Record<Name, PreparedSql>> {
  const found = file
    .split(/^(?=-- name: )/m)
    .map((text) => [BEGINNING.exec(text), text.replace(HEADER, '').trimEnd()] as const)
    .flatMap(([match, text]) => (match === null ? [] : [[match[2], { name: match[1], text }] as const]));
  const present = found.map(([name]) => name);
  if (JSON.stringify(present.toSorted()) !== JSON.stringify(names.toSorted())) {
    throw new Error(`a file of statements has ${present.join(', ')} where ${names.join(', ')} are asked for`);
  }
  return Object.fromEntries(found) as Record<Name, PreparedSql>;
}

/**
 * A statement with what no parameter can stand for, names of tables and parts of conditions, where it has {braces}. They
 * come from this program or, quoted, from PostgreSQL's catalogs; never from outside.
 */
export function fill({ text }: PreparedSql, parts: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-z]+)\}/g, (_, part: string) => parts[part] ?? `{${part}}`);
}
