// Settings of the stores. Part of the settings table (settings.ts).
import { SECRET_TEXT } from '../admin-tokens.ts';
import { connectionUrl, integer, text, url } from '../kinds.ts';
import { optional, secret, section, withDefault } from './setting.ts';

export const STORES = section('', '', {
  redisUrl: optional({
    flag: '--redis-url',
    secret: 'part',
    kind: connectionUrl(
      'redis',
      'rediss',
      'redis-sentinel',
      'rediss-sentinel',
      'redis-cluster',
      'rediss-cluster',
    ),
    defaultText: 'embedded, when neither store is set',
    doc: 'Redis that coordinates the instances. For Sentinel and Cluster list the hosts with commas (Sentinel: add /master); rediss... uses TLS. Needs the database URL too.',
  }),
  redisTlsCa: optional({
    kind: text('path'),
    defaultText: 'what Node trusts',
    doc: 'PEM file with the certificate authorities to trust for Redis and its sentinels.',
  }),
  redisTlsCert: optional({
    kind: text('path'),
    defaultText: 'no client certificate',
    doc: 'PEM file with the client certificate and its chain for Redis and its sentinels. Needs the key too.',
  }),
  redisTlsKey: optional({
    kind: text('path'),
    defaultText: 'no client certificate',
    doc: 'PEM file with the private key of the client certificate; must not be world-readable.',
  }),
  redisSentinelPassword: secret(
    SECRET_TEXT,
    'Password of the sentinels. The password of the Redis servers is part of the Redis URL.',
  ),
  databaseUrl: optional({
    flag: '--database-url',
    secret: 'part',
    kind: url('postgres', 'postgresql'),
    defaultText: 'embedded, when neither store is set',
    doc: 'PostgreSQL database that stores cards, usage and history. Set redis_url as well.',
    scopes: ['daemon', 'migrate'],
  }),
  databaseMaxConnections: withDefault({
    // At least two: one may be busy with a long statement, for example a count.
    kind: integer({ min: 2, max: 1_000 }),
    default: 8,
    doc: 'Maximum number of connections from this instance to PostgreSQL.',
  }),
  dataDir: optional({
    flag: '--data-dir',
    kind: text('path'),
    defaultText: '$XDG_STATE_HOME/cardpoll',
    doc: 'Directory of the embedded stores; :memory: stores nothing on disk.',
    scopes: ['daemon', 'migrate'],
  }),
});
