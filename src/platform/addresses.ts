// IP addresses: which ones only this machine can reach (listening there needs no tokens), their form with a port, the server of a
// URL, and configured ranges. Resolves no names.
import { BlockList, isIP, isIPv6 } from 'node:net';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** True for localhost and loopback addresses. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost';
  return loopback.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

/** `127.0.0.1:3000`, `[::1]:3000`, as in a URL. */
export function hostAndPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** @returns the host of an http:// or https:// URL, without brackets, and its port. */
export function serverIn({ protocol, hostname, port }: URL): { host: string; port: number } {
  const usual = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? usual : Number(port) };
}

/** `10.0.0.0/8`: the first `prefix` bits of the address. */
export interface AddressRange {
  readonly address: string;
  readonly prefix: number;
}

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; null when it is neither. */
export function parseAddressRange(text: string): AddressRange | null {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  const widest = family === 4 ? 32 : 128;
  const prefix = bits === undefined ? widest : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  return family !== 0 && rest.length === 0 && prefix <= widest ? { address, prefix } : null;
}

/** The owner of one IPv6 address usually has all 2^64 of its network. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  // `::` means zeros; the tail matters if the head is shorter than the network part.
  const behind = tail === undefined ? [] : tail.split(':');
  const zeros = Array(Math.max(0, 8 - groups.length - behind.length)).fill('0');
  return [...groups, ...zeros, ...behind].slice(0, 4).join(':');
}
