import { expect, it } from 'vitest';
import {
  ACCESS_FAULTS,
  FAULT_KINDS,
  faultWords,
  kindOfFailure,
} from '../../../../src/domain/gateway-fault.ts';
import { FaultWatch } from '../../../../src/gateway/flow/fault-watch.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';
import { connectionKind } from '../../../../src/gateway/request/connection-fault.ts';
import { ProxyError } from '../../../../src/platform/proxy/proxy-tunnel.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const coded = (code: string) => Object.assign(new Error(code), { code });

it.each([
  ['ENOTFOUND', 'name'],
  ['EAI_AGAIN', 'name'],
  ['EHOSTUNREACH', 'route'],
  ['ECONNREFUSED', 'refused'],
  ['CERT_HAS_EXPIRED', 'expired'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate'],
  ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
])('%s is %s', (code, kind) => {
  expect(connectionKind(coded(code))).toBe(kind);
});

it('a proxy, a token and a login are named before the connection', () => {
  expect(connectionKind(new ProxyError('no tunnel by p: getaddrinfo ENOTFOUND p'))).toBe('proxy');
  expect(new GatewayError('auth', 'HTTP 401').kind).toBe('token');
  expect(new GatewayError('auth', 'no token: HTTP 401 of the token server').kind).toBe('login');
  expect(new GatewayError('card', 'HTTP 404').kind).toBeNull();
  expect(kindOfFailure('timeout')).toBe('timeout');
});

it('every fault of access has words', () => {
  for (const kind of ACCESS_FAULTS) expect(faultWords(kind)).not.toBeNull();
  for (const kind of [...FAULT_KINDS, null]) expect(faultWords(kind) ?? '').not.toMatch(/undefined/);
});

it('three calls that fail alike within ten seconds are a fault, one is none, and it ends with time', () => {
  const clock = new FakeClock();
  const watch = new FaultWatch(clock);
  const fail = (kind: 'name' | 'refused') =>
    watch.note(new GatewayError('connect', `words of ${kind}`, { kind }));
  fail('name');
  fail('name');
  expect(watch.present).toBeNull();
  watch.note(new GatewayError('timeout', 'late'));
  fail('name');
  expect(watch.present).toEqual({ kind: 'name', text: 'words of name' });
  fail('refused');
  expect(watch.present).toBeNull();
  fail('refused');
  fail('refused');
  expect(watch.present?.kind).toBe('refused');
  clock.advance(10_001);
  expect(watch.present).toBeNull();
});
