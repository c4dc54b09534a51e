// Loopback addresses, which only this machine can reach. Used by the configuration (listening there needs no tokens) and
// by the API's access rules. Resolves no names.
import { BlockList, isIP } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** True for localhost and loopback addresses. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost';
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
