import { expect, it } from 'vitest';
import { tokensInClearText } from '../../../../src/api/guard/auth.ts';

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
