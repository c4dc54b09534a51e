// Settings of the stores. Part of the settings table (settings.ts).
import { DATABASE_CONNECTIONS } from '../platform/connection-bounds.ts';
import { connectionUrl, integer, text, url } from './kinds.ts';
import { optional, withDefault } from './setting.ts';

const daemon = ['daemon'] as const;

export const STORES = {
  redisUrl: optional({
    flag: '--redis-url',
    env: 'CARDPOLL_REDIS_URL',
    yaml: 'redis_url',
    file: { flag: null, env: 'CARDPOLL_REDIS_URL_FILE', credential: 'redis_url' },
    kind: connectionUrl('redis', 'rediss', 'redis-sentinel', 'redis-cluster'),
    defaultText: 'embedded, when neither store is set',
    doc: 'Redis that coordinates the instances; several hosts with commas for Sentinel (then /master) and Cluster. Needs the database URL too.',
    scopes: daemon,
  }),
  databaseUrl: optional({
    flag: '--database-url',
    env: 'CARDPOLL_DATABASE_URL',
    yaml: 'database_url',
    file: { flag: null, env: 'CARDPOLL_DATABASE_URL_FILE', credential: 'database_url' },
    kind: url('postgres', 'postgresql'),
    defaultText: 'embedded, when neither store is set',
    doc: 'PostgreSQL that keeps cards, usage and history. Needs the Redis URL too.',
    scopes: ['daemon', 'migrate'],
  }),
  databaseMaxConnections: withDefault({
    env: 'CARDPOLL_DATABASE_MAX_CONNECTIONS',
    yaml: 'database_max_connections',
    kind: integer(DATABASE_CONNECTIONS),
    default: DATABASE_CONNECTIONS.usual,
    doc: 'Most connections of this instance to PostgreSQL.',
    scopes: daemon,
  }),
  dataDir: optional({
    flag: '--data-dir',
    env: 'CARDPOLL_DATA_DIR',
    yaml: 'data_dir',
    kind: text('path'),
    defaultText: '$XDG_STATE_HOME/cardpoll',
    doc: 'Directory of the embedded stores; :memory: keeps nothing.',
    scopes: ['daemon', 'migrate'],
  }),
} as const;
