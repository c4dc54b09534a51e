// Reads the certificates and keys of the HTTP server and of the connections to Redis and to the gateway, and checks that they
// belong together. Used by load-config.ts, also for SIGHUP: files that cannot work never reach the server.
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../platform/errors.ts';
import { readSmallFile } from '../platform/small-file.ts';
import { openToOthers } from './file-rights.ts';
import type { SettingReader } from './reader.ts';
import { nameOf, type Setting, waysToSet } from './settings/setting.ts';
import { SETTINGS } from './settings/settings.ts';

/** PEM texts. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** TLS options of a client; null: Node's default. */
export interface ClientTlsFiles {
  readonly ca: string | null;
  readonly pair: TlsFiles | null;
}

/** Files of the HTTP server. @returns null when neither is set, or when they cannot work; then `reader.finish` throws. */
export function readTlsFiles(reader: SettingReader): TlsFiles | null {
  return readPair(reader, SETTINGS.tls.cert, SETTINGS.tls.key);
}

/** Files of the connections to Redis. A file that cannot work is null too; then `reader.finish` throws. */
export function readRedisTlsFiles(reader: SettingReader): ClientTlsFiles {
  const { redisTlsCa, redisTlsCert, redisTlsKey } = SETTINGS.stores;
  return { ca: readAuthorities(reader, redisTlsCa), pair: readPair(reader, redisTlsCert, redisTlsKey) };
}

/** Files of the connections to the gateway, likewise. */
export function readGatewayTlsFiles(reader: SettingReader): ClientTlsFiles {
  const { ca, cert, key } = SETTINGS.gatewayTls;
  return { ca: readAuthorities(reader, ca), pair: readPair(reader, cert, key) };
}

type PathSetting = Setting<string | null>;

function readAuthorities(reader: SettingReader, setting: PathSetting): string | null {
  const path = reader.read(setting);
  const ca = path === null ? null : read(reader, setting, path);
  if (ca === null) return null;
  try {
    new X509Certificate(ca);
    return ca;
  } catch (error) {
    report(reader, setting, `${path} holds no certificate: ${messageOf(error)}`);
    return null;
  }
}

function readPair(reader: SettingReader, certSetting: PathSetting, keySetting: PathSetting): TlsFiles | null {
  const [certPath, keyPath] = [reader.read(certSetting), reader.read(keySetting)];
  if (certPath === null && keyPath === null) return null;
  if (certPath === null || keyPath === null) {
    const [set, missing] = certPath === null ? [keySetting, certSetting] : [certSetting, keySetting];
    report(reader, missing, `${nameOf(set)} is set, so give ${waysToSet(missing)} too`);
    return null;
  }
  const cert = read(reader, certSetting, certPath);
  const key = read(reader, keySetting, keyPath);
  if (cert === null || key === null) return null;
  const open = openToOthers(keyPath);
  if (open !== null) {
    report(reader, keySetting, open);
    return null;
  }
  try {
    createSecureContext({ cert, key });
    return { cert, key };
  } catch (error) {
    report(reader, certSetting, `${certPath} and ${keyPath} cannot be used together: ${messageOf(error)}`);
    return null;
  }
}

function read(reader: SettingReader, setting: PathSetting, path: string): string | null {
  try {
    return readSmallFile(path);
  } catch (error) {
    report(reader, setting, messageOf(error));
    return null;
  }
}

function report(reader: SettingReader, setting: PathSetting, message: string): void {
  reader.report(setting, `${nameOf(setting)}: ${message}`);
}
