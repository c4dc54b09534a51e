import { expect, it } from 'vitest';
import { maskFor } from '../../../src/gateway/secrets.ts';
import { gatewayConfig } from '../../support/gateway-config.ts';

const TOKEN = 'sk_live/0123456789';
const config = gatewayConfig({
  url: 'http://gateway',
  token: TOKEN,
  username: 'fleet',
  password: 'pass word 1',
});

it.each([
  ['a token', `token ${TOKEN} expired`, 'token *** expired'],
  ['a token of a query', `no ?key=${encodeURIComponent(TOKEN)}`, 'no ?key=***'],
  [
    'user and password',
    `Basic ${Buffer.from('fleet:pass word 1').toString('base64')} is bad`,
    'Basic *** is bad',
  ],
  ['a token that the call carried', 'granted-token is old', '*** is old'],
  ['the beginning of a token where a text was cut', `token ${TOKEN.slice(0, 9)}…`, 'token ***…'],
  ['nothing else', 'fleet is not known…', 'fleet is not known…'],
])('masks %s', (_what, said, shown) => {
  expect(maskFor(config, ['authorization', 'Bearer granted-token', 'accept', 'application/json'])(said)).toBe(
    shown,
  );
});

it('leaves text alone that happens to have a short secret in it', () => {
  expect(maskFor(gatewayConfig({ url: 'http://gateway', token: 'card' }), [])('this card is not known')).toBe(
    'this card is not known',
  );
});
