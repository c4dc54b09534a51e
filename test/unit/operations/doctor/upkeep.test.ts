import { expect, it } from 'vitest';
import { tokenFindings } from '../../../../src/operations/doctor/upkeep.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const token = (name: string, endOf: string | null) => ({
  name,
  role: 'operator' as const,
  expiresAtMs: endOf === null ? null : Date.parse(`${endOf}T00:00:00Z`) + 86_400_000,
});

it('warns of tokens that expired or will within 14 days, with the command for a new one', () => {
  const tokens = [
    token('gone', '2026-11-20'),
    token('today', '2026-11-21'),
    token('soon', '2026-12-04'),
    token('later', '2026-12-05'),
    token('never', null),
  ];
  expect(tokenFindings(tokens, NOW)).toMatchObject([
    { status: 'warning', detail: 'the token of gone expired: 2026-11-20 was its last day' },
    { status: 'warning', detail: 'the token of today expires: 2026-11-21 is its last day' },
    {
      status: 'warning',
      detail: 'the token of soon expires: 2026-12-04 is its last day',
      command: 'cardpoll token new --name soon --role operator',
    },
  ]);
});

it.each([
  [-1, 'expired'],
  [0, 'expired'],
  [1, 'expires'],
  [14 * 86_400_000 - 1, 'expires'],
])('that ends in %i ms %s', (inMs, is) => {
  const ending = { name: 'a', role: 'admin' as const, expiresAtMs: NOW + inMs };
  expect(tokenFindings([ending], NOW)).toMatchObject([
    { check: 'admin tokens', status: 'warning', detail: expect.stringContaining(`the token of a ${is}: `) },
  ]);
  expect(tokenFindings([{ ...ending, expiresAtMs: NOW + 14 * 86_400_000 }], NOW)).toMatchObject([
    { check: 'admin tokens', status: 'ok' },
  ]);
});

it('is content with others, and says nothing where there are none', () => {
  expect(tokenFindings([token('later', '2026-12-05'), token('never', null)], NOW)).toMatchObject([
    { status: 'ok', detail: '2 known, none expires within 14 days' },
  ]);
  expect(tokenFindings([], NOW)).toEqual([]);
});
