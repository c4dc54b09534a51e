import { describe, expect, it } from 'vitest';
import { authenticator, tokensInClearText } from '../../../../src/api/guard/auth.ts';
import { tokensOf } from '../../../support/api-under-test.ts';

const nothing = {
  method: 'GET',
  adminOnly: false,
  host: '127.0.0.1:7480',
};

describe('without tokens', () => {
  const authenticate = authenticator([], '127.0.0.1', Date.now);

  it.each(['127.0.0.1:7480', '127.0.0.1', 'localhost:7480', 'LOCALHOST', '[::1]:7480', '[::1]', '127.8.9.1'])(
    'is open to Host %s',
    (host) => {
      expect(authenticate({ ...nothing, method: 'POST', host })).toEqual({ name: 'local', role: 'admin' });
    },
  );

  it.each([
    undefined,
    '',
    'evil.example',
    'evil.example:7480',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.0.0.1:7480',
    '[::2]:7480',
    'user@127.0.0.1@evil.example',
  ])('refuses Host %s', (host) => {
    expect(() => authenticate({ ...nothing, host })).toThrow(
      expect.objectContaining({ code: 'foreign_host' }),
    );
  });

  it.each(['http://evil.example', 'null', 'https://127.0.0.1.evil.example'])(
    'refuses Origin %s',
    (origin) => {
      expect(() => authenticate({ ...nothing, origin })).toThrow(
        expect.objectContaining({ code: 'foreign_origin' }),
      );
    },
  );

  it('accepts an Origin on this machine', () => {
    expect(authenticate({ ...nothing, origin: 'http://localhost:3000' })).toMatchObject({ name: 'local' });
  });

  it.each(['0.0.0.0', '::', '192.168.1.5', 'db.internal'])('does not open on %s', (host) => {
    expect(() => authenticator([], host, Date.now)).toThrow(expect.objectContaining({ kind: 'config' }));
  });
});

describe('with tokens', () => {
  let nowMs = Date.parse('2026-11-21T23:59:59.999Z');
  const authenticate = authenticator(
    tokensOf([
      { name: 'vera', role: 'viewer', token: 'v'.repeat(32) },
      { name: 'ben', role: 'operator', token: `${'o'.repeat(32)}@2026-11-21` },
    ]),
    '0.0.0.0',
    () => nowMs,
  );
  const viewer = { ...nothing, authorization: `Bearer ${'v'.repeat(32)}` };
  const operator = { ...nothing, authorization: `Bearer ${'o'.repeat(32)}`, host: 'polling.example' };

  it('names callers', () => {
    expect(authenticate(viewer)).toEqual({ name: 'vera', role: 'viewer' });
    expect(authenticate({ ...operator, method: 'PUT' })).toEqual({ name: 'ben', role: 'operator' });
    expect(authenticate({ ...viewer, authorization: `bearer  ${'v'.repeat(32)}` })).toEqual({
      name: 'vera',
      role: 'viewer',
    });
  });

  it('lets a token in until its last day is over', () => {
    expect(authenticate(operator).name).toBe('ben');
    nowMs += 1;
    expect(() => authenticate(operator)).toThrow(expect.objectContaining({ code: 'token_expired' }));
    nowMs -= 1;
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('lets viewers not %s', (method) => {
    expect(() => authenticate({ ...viewer, method })).toThrow(expect.objectContaining({ code: 'forbidden' }));
  });

  it.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${'v'.repeat(31)}`,
    `Bearer ${'v'.repeat(33)}`,
    `Basic ${'v'.repeat(32)}`,
    'v'.repeat(32),
  ])('refuses Authorization %s', (authorization) => {
    expect(() => authenticate({ ...nothing, authorization })).toThrow(
      expect.objectContaining({ kind: 'auth', code: 'unauthenticated' }),
    );
  });
});

describe('tokens go in clear text', () => {
  const OPEN = { host: '0.0.0.0', tls: null, trustedProxies: [] };

  it.each([
    ['on all addresses', OPEN, true],
    ['on all addresses of IPv6', { ...OPEN, host: '::' }, true],
    ['on a name', { ...OPEN, host: 'poll.example' }, true],
    ['on loopback', { ...OPEN, host: '127.0.0.1' }, false],
    ['on loopback of IPv6', { ...OPEN, host: '::1' }, false],
    ['with HTTPS', { ...OPEN, tls: {} }, false],
    ['behind a trusted proxy', { ...OPEN, trustedProxies: ['10.0.0.1/32'] }, false],
  ])('%s', (_where, listening, inClearText) => {
    expect(tokensInClearText(listening)).toBe(inClearText);
  });
});
