// Reads the Redis URL of the settings. Used by connect.ts; opens no connection.
import { CardpollError } from '../../../platform/errors.ts';

interface RedisNode {
  readonly host: string;
  readonly port: number;
}

export interface RedisTarget {
  readonly mode: 'standalone' | 'sentinel' | 'cluster';
  readonly tls: boolean;
  readonly nodes: readonly RedisNode[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Mode sentinel: the name of the master group. */
  readonly masterName: string;
  readonly db: number;
  /** The URL without its password, for messages. */
  readonly shown: string;
}

const URL_PARTS = /^(rediss?(?:-sentinel|-cluster)?):\/\/(?:(.*)@)?([^/@]+)(?:\/([^/]*))?(?:\/([^/]*))?\/?$/;
const NODE = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;
const DEFAULT_PORTS = { standalone: 6379, sentinel: 26379, cluster: 6379 } as const;
const HINT =
  'use redis://host:port/db, redis-sentinel://host:port,host:port/master or redis-cluster://host:port,host:port; rediss...:// over TLS';

/**
 * Credentials (`user:password@`) belong to the Redis servers.
 * @throws CardpollError `config` for a URL that has none of these forms.
 */
export function parseRedisUrl(url: string): RedisTarget {
  const parts = URL_PARTS.exec(url);
  if (parts === null) throw invalid('it is none of the known forms');
  const [, scheme = '', credentials, hosts = '', first = '', second = ''] = parts;
  const mode = (/-(sentinel|cluster)$/.exec(scheme)?.[1] ?? 'standalone') as RedisTarget['mode'];
  const nodes = hosts.split(',').map((host) => parseNode(host, DEFAULT_PORTS[mode]));
  if (mode === 'standalone' && nodes.length > 1)
    throw invalid('several hosts need redis-sentinel:// or redis-cluster://');
  if (mode === 'sentinel' && first === '') throw invalid('the name of the master is missing after the hosts');
  const db = mode === 'sentinel' ? second : first;
  if (!/^\d*$/.test(db) || (mode === 'cluster' && Number(db) !== 0))
    throw invalid(`"${db}" is no usable database`);
  const { username, password } = parseCredentials(credentials);
  const path = [first, second].filter((part) => part !== '').join('/');
  return {
    mode,
    tls: scheme.startsWith('rediss'),
    nodes,
    username,
    password,
    masterName: mode === 'sentinel' ? first : '',
    db: Number(db),
    shown: `${scheme}://${username === undefined ? '' : `${username}@`}${hosts}${path === '' ? '' : `/${path}`}`,
  };
}

function parseNode(text: string, defaultPort: number): RedisNode {
  const parts = NODE.exec(text.trim());
  const port = Number(parts?.[2] ?? defaultPort);
  if (parts?.[1] === undefined || port < 1 || port > 65_535) throw invalid(`"${text}" is no host:port`);
  return { host: parts[1].replace(/^\[|\]$/g, ''), port };
}

function parseCredentials(text: string | undefined): {
  username: string | undefined;
  password: string | undefined;
} {
  if (text === undefined) return { username: undefined, password: undefined };
  const colon = text.indexOf(':');
  try {
    const username = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
    const password = colon < 0 ? '' : decodeURIComponent(text.slice(colon + 1));
    return { username: username || undefined, password: password || undefined };
  } catch {
    throw invalid('its user name or password is not percent-encoded');
  }
}

function invalid(why: string): CardpollError {
  return new CardpollError('config', 'redis_url_invalid', `the Redis URL cannot be used: ${why}`, {
    hint: HINT,
  });
}
