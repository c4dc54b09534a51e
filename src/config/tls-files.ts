// Reads the certificate and the key of the HTTP server and checks that they belong together. Used by load-config.ts,
// also for SIGHUP: files that cannot work never come as far as the server.
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../platform/errors.ts';
import { openToOthers } from './file-rights.ts';
import type { SettingReader } from './reader.ts';
import { nameOf, type Setting, waysToSet } from './setting.ts';
import { SETTINGS } from './settings.ts';

/** PEM texts. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** @returns null where neither is set, or what is set cannot work (then `reader.finish` throws). */
export function readTlsFiles(reader: SettingReader): TlsFiles | null {
  const { cert: tlsCert, key: tlsKey } = SETTINGS.tls;
  const [certPath, keyPath] = [reader.read(tlsCert), reader.read(tlsKey)];
  if (certPath === null && keyPath === null) return null;
  if (certPath === null || keyPath === null) {
    const [set, missing] = certPath === null ? [tlsKey, tlsCert] : [tlsCert, tlsKey];
    report(reader, missing, `${nameOf(set)} is set, so give ${waysToSet(missing)} too`);
    return null;
  }
  const cert = read(reader, tlsCert, certPath);
  const key = read(reader, tlsKey, keyPath);
  if (cert === null || key === null) return null;
  const open = openToOthers(keyPath);
  if (open !== null) {
    report(reader, tlsKey, open);
    return null;
  }
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    report(reader, tlsCert, `${certPath} and ${keyPath} cannot be used together: ${messageOf(error)}`);
    return null;
  }
}

function read(reader: SettingReader, setting: Setting<string | null>, path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    report(reader, setting, messageOf(error));
    return null;
  }
}

function report(reader: SettingReader, setting: Setting<string | null>, message: string): void {
  reader.report({ field: nameOf(setting), message: `${nameOf(setting)}: ${message}` });
}
