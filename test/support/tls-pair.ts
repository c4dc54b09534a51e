// Two certificates for localhost and 127.0.0.1 with their keys, made for tests alone and valid for a hundred years. Each
// signs itself: a client trusts the one it is given.
import { chmodSync, copyFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export type PairName = 'first' | 'second';

const pathOf = (name: PairName, part: 'crt' | 'key') =>
  fileURLToPath(new URL(`./tls/${name}.${part}`, import.meta.url));

export const certificatePath = (name: PairName) => pathOf(name, 'crt');

export function tlsPair(name: PairName): { readonly cert: string; readonly key: string } {
  return { cert: readFileSync(pathOf(name, 'crt'), 'utf8'), key: readFileSync(pathOf(name, 'key'), 'utf8') };
}

/** Puts a pair where a daemon reads it. */
export function installPair(name: PairName, certPath: string, keyPath: string): void {
  copyFileSync(pathOf(name, 'crt'), certPath);
  copyFileSync(pathOf(name, 'key'), keyPath);
  chmodSync(keyPath, 0o600);
}
