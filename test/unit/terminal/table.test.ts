// Which columns of a table a terminal has room for, and how wide each of them is.
import { expect, it } from 'vitest';
import { type ColumnRules, layTable } from '../../../src/terminal/table.ts';

/** @returns the lines of a table with a header and one row. */
function laid(
  columns: number | null,
  ...table: readonly (readonly [string, string, ColumnRules])[]
): string[] {
  const rows = [table.map(([header]) => header), table.map(([, value]) => value)];
  const cells = rows.map((row) => row.map((text) => [{ text }]));
  const { lines } = layTable(
    table.map(([, , rules]) => rules),
    cells,
    columns,
  );
  return lines.map((line) => line.map(({ text }) => text).join(''));
}

it.each([
  [null, 'first   second  third  fourth'],
  [29, 'first   second  third  fourth'],
  [28, 'first   third  fourth'],
  [20, 'first   third'],
  [12, 'first   thi…'],
  [5, 'firs…'],
])('leaves out the lowest number first: %j columns', (columns, header) => {
  const [shown] = laid(
    columns,
    ['first', '123456', { drop: 0 }],
    ['second', 'b', { drop: 1 }],
    ['third', 'c', {}],
    ['fourth', 'd', { drop: 2 }],
  );
  expect(shown?.trimEnd()).toBe(header);
});

it('leaves out the right one of two that are equal', () => {
  expect(laid(6, ['A', 'aa', {}], ['B', 'bb', { drop: 1 }], ['C', 'cc', { drop: 1 }])).toEqual([
    'A   B ',
    'aa  bb',
  ]);
});

it('cuts what may be cut before it leaves anything out, never a header', () => {
  const texts = ['NAME', 'a long name', { least: 2 }] as const;
  const number = ['N', '123', { align: 'right', drop: 1 }] as const;
  expect(laid(12, texts, number)).toEqual(['NAME       N', 'a long…  123']);
  expect(laid(9, texts, number)).toEqual(['NAME    N', 'a l…  123']);
  expect(laid(8, texts, number)).toEqual(['NAME    ', 'a long …']);
});

it('hands spare room to the column that is cut least first', () => {
  const [, row] = laid(16, ['A', 'a'.repeat(4), { least: 2 }], ['B', 'b'.repeat(20), { least: 2 }]);
  expect(row).toBe('aaaa  bbbbbbbbb…');
});

it('measures a sequence that steers the terminal as it is shown', () => {
  expect(laid(null, ['A', '\x1b[31mred', {}], ['B', 'b', {}])[1]).toBe(' [31mred  b');
});
