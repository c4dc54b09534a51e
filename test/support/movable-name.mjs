// Loaded into a daemon before its own code (node --import): the name in MOVABLE_NAME is that of 127.0.0.1, until the file in
// MOVABLE_NAME_GONE exists: then it is not found, or its lookup is not answered where the file says `silent`.
import dns from 'node:dns';
import { existsSync, readFileSync } from 'node:fs';

const { MOVABLE_NAME: name = '', MOVABLE_NAME_GONE: gone = '' } = process.env;
const lookup = dns.lookup;

/** @type {(host: string, options: any, callback: any) => void} */
const movable = (host, options, callback) => {
  if (host !== name) return void lookup(host, options, callback);
  if (!existsSync(gone)) return void lookup('127.0.0.1', options, callback);
  if (readFileSync(gone, 'utf8').includes('silent')) return;
  callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND', hostname: host }));
};
dns.lookup = /** @type {typeof dns.lookup} */ (Object.assign(movable, lookup));
