import { describe, expect, it } from 'vitest';
import { parseRedisUrl } from '../../../../../src/store/redis/client/redis-url.ts';

describe('parseRedisUrl', () => {
  it('reads a standalone URL with credentials, and shows it without the password', () => {
    expect(parseRedisUrl('rediss://user:p%40ss:w@redis.example:6380/3')).toEqual({
      mode: 'standalone',
      tls: true,
      nodes: [{ host: 'redis.example', port: 6380 }],
      username: 'user',
      password: 'p@ss:w',
      masterName: '',
      db: 3,
      shown: 'rediss://user@redis.example:6380/3',
    });
  });

  it.each([
    ['rediss-sentinel://s1/main', 'sentinel', true],
    ['redis-sentinel://s1/main', 'sentinel', false],
    ['rediss-cluster://n1', 'cluster', true],
    ['redis-cluster://n1', 'cluster', false],
  ])('%s is %s, over TLS: %s', (url, mode, tls) => {
    expect(parseRedisUrl(url)).toMatchObject({ mode, tls });
  });

  it('knows the default ports, IPv6 and a password without a user', () => {
    expect(parseRedisUrl('redis://[::1]').nodes).toEqual([{ host: '::1', port: 6379 }]);
    expect(parseRedisUrl('redis://:secret@h/')).toMatchObject({
      username: undefined,
      password: 'secret',
      db: 0,
    });
    expect(parseRedisUrl('redis://:secret@h/').shown).not.toContain('secret');
    expect(parseRedisUrl('redis-sentinel://s1,s2/main').nodes.map((node) => node.port)).toEqual([
      26379, 26379,
    ]);
  });

  it('reads Sentinel and Cluster URLs', () => {
    expect(parseRedisUrl('redis-sentinel://u:p@s1:1001,s2:1002/main/4')).toMatchObject({
      mode: 'sentinel',
      nodes: [
        { host: 's1', port: 1001 },
        { host: 's2', port: 1002 },
      ],
      masterName: 'main',
      db: 4,
      shown: 'redis-sentinel://u@s1:1001,s2:1002/main/4',
    });
    expect(parseRedisUrl('redis-cluster://a:1,b:2')).toMatchObject({ mode: 'cluster', tls: false, db: 0 });
  });

  it.each([
    'http://h',
    'redis://',
    'redis://h:0',
    'redis://h:99999',
    'redis://h:port',
    'redis://a,b',
    'redis://h/x',
    'redis-cluster://a/1',
    'redis-sentinel://a',
    'redis://%zz:x@h',
  ])('refuses %s', (url) => {
    expect(() => parseRedisUrl(url)).toThrow(
      expect.objectContaining({ kind: 'config', code: 'redis_url_invalid' }),
    );
  });
});
