import { expect, it } from 'vitest';
import { epochMs, namedRows, TIMESTAMPTZ_OID } from '../../../../../src/store/sql/client/rows.ts';

it.each([
  ['2026-11-23 22:47:25+00', '2026-11-23T22:47:25.000Z'],
  ['2026-11-23 22:47:25.1+00', '2026-11-23T22:47:25.100Z'],
  ['2026-11-23 22:47:25.123456+00', '2026-11-23T22:47:25.123Z'],
  ['2026-11-23 22:47:25.123500+00', '2026-11-23T22:47:25.124Z'],
  ['2026-12-31 23:59:59.9996+00', '2027-01-01T00:00:00.000Z'],
  ['2026-11-24 06:47:25.5+08', '2026-11-23T22:47:25.500Z'],
  ['2026-11-23 19:17:25-03:30', '2026-11-23T22:47:25.000Z'],
])('reads the time %s', (text, expected) => {
  expect(new Date(epochMs(text)).toISOString()).toBe(expected);
});

it.each(['infinity', '-infinity', '23.11.2026 22:47:25 CET', '0044-03-15 12:00:00+00 BC', ''])(
  'refuses %j',
  (text) => {
    expect(() => epochMs(text)).toThrow(RangeError);
  },
);

it('names columns as the program does', () => {
  const fields = [
    { name: 'card_id', dataTypeID: 20 },
    { name: 'fired_at', dataTypeID: TIMESTAMPTZ_OID },
    { name: 'QUERY PLAN', dataTypeID: 114 },
  ];
  expect(namedRows(fields, [[7, 1_000, 'x']])).toEqual([{ cardId: 7, firedAtMs: 1_000, 'QUERY PLAN': 'x' }]);
});

it('puts columns with dots in their names into objects, which are null where their first value is', () => {
  const fields = [
    { name: 'card_id', dataTypeID: 20 },
    { name: 'usage.used_mb', dataTypeID: 701 },
    { name: 'usage.jump.at', dataTypeID: TIMESTAMPTZ_OID },
    { name: 'usage.jump.from_mb', dataTypeID: 701 },
    { name: 'usage.read_at', dataTypeID: TIMESTAMPTZ_OID },
  ];
  const rows = [
    [7, 0, 1_000, null, 2_000],
    [8, 5, null, null, 2_000],
    [9, null, null, null, null],
  ];
  expect(namedRows(fields, rows)).toEqual([
    { cardId: 7, usage: { usedMb: 0, jump: { atMs: 1_000, fromMb: null }, readAtMs: 2_000 } },
    { cardId: 8, usage: { usedMb: 5, jump: null, readAtMs: 2_000 } },
    { cardId: 9, usage: null },
  ]);
});
