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
