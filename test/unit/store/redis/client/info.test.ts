// How a server is named by what it answers to INFO: the fields as the real servers report them.
import { expect, it } from 'vitest';
import { softwareOf } from '../../../../../src/store/redis/client/info.ts';

const GCC = 'gcc_version:14.2.0';

it.each([
  ['Redis 8.0.6', ['redis_version:8.0.6', GCC, 'executable:/usr/bin/redis-server']],
  ['Redis 5.0.14', ['redis_version:5.0.14']],
  ['Valkey 9.1.2', ['redis_version:7.2.4', 'server_name:valkey', 'valkey_version:9.1.2', GCC]],
  ['Valkey 10.0.0', ['redis_version:7.2.4', 'server_name:Valkey', 'valkey_version:10.0.0']],
  ['Valkey 7.2.12', ['redis_version:7.2.4', 'valkey_version:7.2.12']],
  [
    'speaks Redis 7.2.4, server name valkey: not tested with cardpoll',
    ['redis_version:7.2.4', 'server_name:valkey'],
  ],
  [
    'speaks Redis 7.4.0, server name dragonfly (df-v1.40.1): not tested with cardpoll',
    ['redis_version:7.4.0', 'dragonfly_version:df-v1.40.1', GCC],
  ],
  [
    'speaks Redis 7.0.0, server name kvrocks (2.17.0): not tested with cardpoll',
    ['version:2.17.0', 'kvrocks_version:2.17.0', 'redis_version:7.0.0'],
  ],
  [
    'speaks Redis 6.3.4, server name keydb: not tested with cardpoll',
    ['redis_version:6.3.4', GCC, 'executable:/usr/bin/keydb-server'],
  ],
  [
    'speaks Redis 7.9.0, server name other: not tested with cardpoll',
    ['redis_version:7.9.0', 'server_name:other'],
  ],
  ['server name garnet (1.1.0): not tested with cardpoll', ['garnet_version:1.1.0']],
  [null, []],
  [null, ['server_name:other']],
])('a server is called %s', (expected, fields) => {
  const rest = ['# Clients', 'connected_clients:1', '# Search', 'search_version:8.0.1', ''];
  expect(softwareOf(['# Server', ...fields, '', ...rest].join('\r\n'))).toBe(expected);
});
