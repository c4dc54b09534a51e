// Access settings are replaced as a whole or not at all: a reload that is refused must not leave half of it in force.
import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import { Access } from '../../../src/api/guard/access.ts';
import { tokensOf } from '../../support/api-under-test.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const FIRST = { role: 'operator', token: 'operator-token-number-one' } as const;
const SECOND = { role: 'operator', token: 'operator-token-number-two' } as const;

const settings = (tokens: Parameters<typeof tokensOf>[0], rateLimitPerMinute: number) => ({
  adminTokens: tokensOf(tokens),
  rateLimitPerMinute,
});

function admits(access: Access, token: string): boolean {
  const headers = { authorization: `Bearer ${token}`, host: 'cards.example' };
  const request = {
    method: 'GET',
    headers,
    ip: '192.0.2.1',
    id: 'r',
    routeOptions: { config: {} },
  } as FastifyRequest;
  try {
    access.admit(request);
    return true;
  } catch {
    return false;
  }
}

it('keeps tokens and limit when other settings are refused', () => {
  const access = new Access(settings([FIRST], 600), '0.0.0.0', new FakeClock());
  expect(() => access.prepare(settings([], 0))).toThrow(/needs admin tokens/);
  expect(access.settings.rateLimitPerMinute).toBe(600);
  expect([admits(access, FIRST.token), admits(access, SECOND.token)]).toEqual([true, false]);
});

it('replaces both together', () => {
  const access = new Access(settings([FIRST], 600), '0.0.0.0', new FakeClock());
  access.prepare(settings([SECOND], 30))();
  expect(access.settings.rateLimitPerMinute).toBe(30);
  expect([admits(access, FIRST.token), admits(access, SECOND.token)]).toEqual([false, true]);
});
