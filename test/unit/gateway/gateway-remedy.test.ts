// What the doctor advises about a gateway that fails.
import { expect, it } from 'vitest';
import { gatewayRemedy } from '../../../src/gateway/gateway-remedy.ts';

const URL = 'http://gateway:8080';

it('a connection that is refused is no matter of credentials', () => {
  const { hint, command } = gatewayRemedy('connect', URL);
  expect(hint).toMatch(/is the gateway running/);
  expect(hint).not.toMatch(/credential/);
  expect(command).toBe(`curl -siv ${URL}`);
});

it('credentials are named when they are refused', () => {
  expect(gatewayRemedy('auth', URL).hint).toMatch(/credentials/);
});

it('calls that take too long lead to the limits', () => {
  expect(gatewayRemedy('timeout', URL).command).toBe('cardpoll concurrency advise');
});

it('answers in another form lead to the profile', () => {
  expect(gatewayRemedy('malformed', URL)).toEqual(gatewayRemedy(null, URL));
  expect(gatewayRemedy(null, URL).hint).toMatch(/gateway\.interfaces/);
});
