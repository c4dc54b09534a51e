import { expect, it } from 'vitest';
import { keyOf, webhookSecretsIn } from '../../../../src/domain/alerts/webhook.ts';

const secret = (bytes: number, fill = 'k') => `whsec_${Buffer.alloc(bytes, fill).toString('base64')}`;

it.each([
  ['one', secret(32), [secret(32)]],
  ['of 24 bytes', secret(24), [secret(24)]],
  ['of 64 bytes', secret(64), [secret(64)]],
  ['two, with space around them', ` ${secret(32)} , ${secret(32, 'l')} `, [secret(32), secret(32, 'l')]],
  ['the same twice', `${secret(32)},${secret(32)}`, [secret(32)]],
])('%s', (_, text, secrets) => {
  expect(webhookSecretsIn(text)).toEqual(secrets);
});

it.each([
  ['nothing', ''],
  ['no prefix', secret(32).slice('whsec_'.length)],
  ['a prefix within', `x${secret(32)}`],
  ['23 bytes', secret(23)],
  ['65 bytes', secret(65)],
  ['not base64', `whsec_${'*'.repeat(40)}`],
  ['more behind it', `${secret(32)}!`],
  ['too much padding', `${secret(33)}===`],
  ['one of two', `${secret(32)},`],
  ['three', [secret(32), secret(32, 'l'), secret(32, 'm')].join(',')],
])('not: %s', (_, text) => {
  expect(webhookSecretsIn(text)).toBeNull();
});

it('its key is what follows the prefix', () => {
  expect(keyOf(secret(24)).toString()).toBe('k'.repeat(24));
});
