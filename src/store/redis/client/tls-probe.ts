// Finds out why a TLS connection fails. Used by connect.ts when a server does not answer: for sentinels and for the
// nodes of a cluster, the driver reports only that the connections were closed.
import { isIP } from 'node:net';
import { type ConnectionOptions, connect } from 'node:tls';
import { CardpollError, messageOf } from '../../../platform/errors.ts';
import { tlsFaultOf } from '../../../platform/tls-fault.ts';
import type { RedisTarget } from './redis-url.ts';

const PROBE_TIMEOUT_MS = 2_000;

/** @returns null when TLS works with every server of the URL */
export async function tlsErrorAt(
  { nodes, shown }: RedisTarget,
  options: ConnectionOptions,
): Promise<CardpollError | null> {
  const errors = await Promise.all(nodes.map((node) => errorAt(node, options)));
  for (const error of errors) {
    const fault = tlsFaultOf(error);
    if (fault === null) continue;
    return new CardpollError(
      'config',
      'redis_tls',
      `Redis at ${shown} cannot be reached over TLS: ${fault} (${messageOf(error)})`,
      {
        cause: error,
        hint: 'check redis_tls_ca, redis_tls_cert and redis_tls_key, and the host names in the Redis URL',
      },
    );
  }
  return null;
}

/** Sends PING, because a server refuses a client certificate only when the connection is used. */
function errorAt({ host, port }: RedisTarget['nodes'][number], options: ConnectionOptions): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = connect({ ...options, host, port, ...(isIP(host) === 0 ? { servername: host } : {}) });
    socket.setTimeout(PROBE_TIMEOUT_MS, () => socket.destroy());
    socket.on('secureConnect', () => socket.write('PING\r\n'));
    socket.on('data', () => socket.destroy());
    socket.on('error', resolve);
    socket.on('close', () => resolve(null));
  });
}
