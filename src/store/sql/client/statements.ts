// Reads the statements of a .sql file: each begins with a line `-- name: subject.statement` and ends where the next
// one begins. Used by every file that sends SQL: x.ts sends the statements of x.sql next to it
// (docs/decisions/0024-statements-by-name.md).
import type { PreparedSql } from './sql-client.ts';

const BEGINNING = /^-- name: ([a-z_]+\.(\w+))$/m;
/** Servers show only the beginning of what they run: it is the statement. */
const HEADER = /^(--.*\n)+/;

/** @returns the statement of each name. A test compares the names in a file with those that are asked for. */
export function statements(file: string): (name: string) => PreparedSql {
  const found = new Map<string, PreparedSql>();
  for (const text of file.split(/^(?=-- name: )/m)) {
    const [, name, statement] = BEGINNING.exec(text) ?? [];
    if (name !== undefined && statement !== undefined)
      found.set(statement, { name, text: text.replace(HEADER, '').trimEnd() });
  }
  return (name) => {
    const statement = found.get(name);
    if (statement === undefined) throw new Error(`the file has no statement ${name}`);
    return statement;
  };
}

/**
 * A statement with what no parameter can stand for, names of tables and parts of conditions, where it has {braces}. They
 * come from this program or, quoted, from PostgreSQL's catalogs; never from outside.
 */
export function fill({ text }: PreparedSql, parts: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-z]+)\}/g, (_, part: string) => parts[part] ?? `{${part}}`);
}
