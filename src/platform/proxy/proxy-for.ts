// Chooses the proxy of a request, by the usual variables. The only definition, used by connections, the doctor and the logs. The
// rules are in docs/proxy.md. Resolves no names.
import { BlockList, isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { isLoopback, parseAddressRange, serverIn } from '../addresses.ts';
import type { HttpProxy, Proxies } from './http-proxy.ts';

/** @param text an http:// or https:// URL. @returns null: a direct request. */
export function proxyFor(text: string, { http, https, exempt }: Proxies): HttpProxy | null {
  const url = new URL(text);
  const proxy = url.protocol === 'https:' ? https : http;
  if (proxy === null) return null;
  const { host: name, port } = serverIn(url);
  const host = name.replace(/\.$/, '');
  // On the proxy's machine a loopback address would mean the proxy itself.
  if (isLoopback(host) || host.endsWith('.localhost')) return null;
  return exempt.some((entry) => covers(entry, host, port)) ? null : proxy;
}

/** @param entry of NO_PROXY: `*`, a name, an address or a range; names and addresses may have a port. */
function covers(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  const range = parseAddressRange(entry);
  if (range !== null) return isIn(range, host);
  const [, bracketed, name = bracketed ?? '', onPort] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  if (onPort !== undefined && Number(onPort) !== port) return false;
  const address = parseAddressRange(name);
  if (address !== null) return isIn(address, host);
  const domain = domainToASCII(name.replace(/^\*?\./, '').replace(/\.$/, ''));
  return domain !== '' && isIP(host) === 0 && (host === domain || host.endsWith(`.${domain}`));
}

function isIn(
  { address, prefix }: { readonly address: string; readonly prefix: number },
  host: string,
): boolean {
  const family = isIP(host);
  if (family === 0) return false;
  const list = new BlockList();
  list.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
