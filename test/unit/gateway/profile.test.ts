import { describe, expect, it } from 'vitest';
import { gatewayProfile } from '../../../src/gateway/profile.ts';
import { CardpollError } from '../../../src/platform/errors.ts';

const url = 'http://127.0.0.1:9000';

function problemsOf(settings: Record<string, unknown>): string[] {
  try {
    gatewayProfile({ url, ...settings });
  } catch (error) {
    expect(error).toBeInstanceOf(CardpollError);
    expect((error as CardpollError).kind).toBe('config');
    return (error as CardpollError).fields.map(({ field }) => field);
  }
  return [];
}

describe('gatewayProfile', () => {
  it('needs only the URL: the rest is the documented default profile', () => {
    expect(gatewayProfile({ url })).toEqual({
      baseUrl: url,
      timeoutMs: 5_000,
      interfaces: {
        realname: { method: 'POST', path: '/card/realname', field: 'realStatus' },
        flow: { method: 'POST', path: '/card/flow', field: 'used' },
        card_status: { method: 'POST', path: '/card/status', field: 'cardStatus' },
        stop: { method: 'POST', path: '/card/stop', field: null },
        start: { method: 'POST', path: '/card/start', field: null },
      },
      successCode: 200,
      stoppedStatuses: ['stopped', 'suspended', '停机'],
      auth: {},
      maxResponseBytes: 65_536,
      maxRetryAfterSeconds: 60,
      maxConnections: 4_096,
    });
  });

  it('changes one part of one interface and keeps the rest', () => {
    const { interfaces } = gatewayProfile({ url, interfaces: { flow: { path: '/v2/traffic' } } });
    expect(interfaces.flow).toEqual({ method: 'POST', path: '/v2/traffic', field: 'used' });
    expect(interfaces.realname.path).toBe('/card/realname');
  });

  it.each([
    [{ url: 'ftp://host' }, 'baseUrl'],
    [{ url: 'host:80' }, 'baseUrl'],
    [{ url: 'http://user:secret@host' }, 'baseUrl'],
    [{ url: 'http://host/?a=1' }, 'baseUrl'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ interfaces: { flow: { path: 'card/flow' } } }, 'interfaces.flow.path'],
    [{ interfaces: { flow: { path: '/card flow' } } }, 'interfaces.flow.path'],
    [{ interfaces: { flow: { method: 'DELETE' } } }, 'interfaces.flow.method'],
    [{ interfaces: { stop: { field: 'x' } } }, 'interfaces.stop.field'],
    [{ interfaces: { trafic: {} } }, 'interfaces'],
    [{ token: 'two words' }, 'auth.bearerToken'],
    [{ token: 'a\r\nx: y' }, 'auth.bearerToken'],
    [{ hmacKey: '' }, 'auth.hmacKey'],
  ])('refuses %j and names %s', (settings, field) => {
    expect(problemsOf(settings)).toEqual([field]);
  });

  it('names all problems at once', () => {
    expect(problemsOf({ timeoutMs: -1, maxResponseBytes: 1 })).toEqual(['timeoutMs', 'maxResponseBytes']);
  });
});
