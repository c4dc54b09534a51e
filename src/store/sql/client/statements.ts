// Reads the statements of a .sql file: each begins with a line `-- name: subject.statement` and ends where the next one begins.
// Text that several statements share is a part before the first one, `-- part: trigger`, which they, and later parts, name in
// braces. Used by every file that sends SQL: x.ts sends the statements of x.sql next to it. A column named `usage.used_mb` is the
// field `usedMb` of the object `usage` in the row, which is null if its first value is NULL.
import type { Slice, SliceOf } from '../../../domain/page.ts';
import type { PreparedSql, SqlRunner, SqlValue } from './sql-client.ts';

const BEGINNING = /^-- name: ([a-z_]+\.(\w+))$/m;
/** Servers show only the beginning of a running statement, so the header is removed. */
const HEADER = /^(--.*\n)+/;

/** The statements of a file. A test compares their names with those that are used. */
export function statements(file: string) {
  const found = new Map<string, PreparedSql>();
  for (const text of withParts(file).split(/^(?=-- name: )/m)) {
    const [, name, statement] = BEGINNING.exec(text) ?? [];
    if (name !== undefined && statement !== undefined)
      found.set(statement, { name, text: text.replace(HEADER, '').trimEnd() });
  }
  const find = (name: string): PreparedSql => {
    const statement = found.get(name);
    if (statement === undefined) throw new Error(`the file has no statement ${name}`);
    return statement;
  };
  return {
    text: (name: string) => find(name).text,
    /** @param answerTimeoutMs of each statement; the client's own bound when absent */
    on: (runner: SqlRunner, answerTimeoutMs?: number) =>
      new Sender(runner, (name) => ({ ...find(name), answerTimeoutMs })),
  };
}

function withParts(file: string): string {
  const parts = [...file.matchAll(/^-- part: (\w+)\n(?:--.*\n)*([\s\S]*?)\n(?=\n-- )/gm)];
  return parts
    .reverse()
    .reduce((text, [, name, part = '']) => text.replaceAll(`{${name}}`, () => part), file);
}

/** Sends statements by name, and returns the requested part of the answer. */
class Sender {
  constructor(
    private readonly runner: SqlRunner,
    private readonly find: (name: string) => PreparedSql,
  ) {}

  rows<Row>(name: string, ...params: readonly SqlValue[]): Promise<Row[]> {
    return this.runner.query<Row>(this.find(name), params);
  }

  async run(name: string, ...params: readonly SqlValue[]): Promise<void> {
    await this.rows(name, ...params);
  }

  /** @returns the first row; null without one. */
  async first<Row>(name: string, ...params: readonly SqlValue[]): Promise<Row | null> {
    return (await this.rows<Row>(name, ...params))[0] ?? null;
  }

  /** @returns the row of a statement that always returns one. */
  async one<Row>(name: string, ...params: readonly SqlValue[]): Promise<Row> {
    const row = await this.first<Row>(name, ...params);
    if (row === null) throw new Error(`${this.find(name).name} has returned no row`);
    return row;
  }

  async hasRow(name: string, ...params: readonly SqlValue[]): Promise<boolean> {
    return (await this.first(name, ...params)) !== null;
  }

  /** @returns the first column. */
  async column<Value>(name: string, ...params: readonly SqlValue[]): Promise<Value[]> {
    return (await this.rows<object>(name, ...params)).map((row) => Object.values(row)[0]);
  }

  /** @returns the first value; null without a row. */
  async scalar<Value>(name: string, ...params: readonly SqlValue[]): Promise<Value | null> {
    return (await this.column<Value>(name, ...params))[0] ?? null;
  }

  /** @returns the number that a statement counts; 0 without a row. */
  async count(name: string, ...params: readonly SqlValue[]): Promise<number> {
    return (await this.scalar<number>(name, ...params)) ?? 0;
  }

  /**
   * @param name of the statement that returns one page of a list; it takes offset and limit after the filter
   * @param countName of the statement that counts the list
   */
  async slice<Item>(
    name: string,
    countName: string,
    filter: readonly SqlValue[],
    { offset, limit }: Slice,
  ): Promise<SliceOf<Item>> {
    const items = this.rows<Item>(name, ...filter, offset, limit);
    const [found, total] = await Promise.all([items, this.count(countName, ...filter)]);
    return { items: found, total };
  }
}

/**
 * Fills in the {braces} of a statement with text that parameters cannot replace: names of tables and parts of conditions. The
 * text comes from this program or, quoted, from PostgreSQL's catalogs; never from outside.
 */
export function fill(text: string, parts: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{([a-z]+)\}/g, (_, part: string) => parts[part] ?? `{${part}}`);
}
