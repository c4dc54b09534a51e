// Loads the module of gateway.module: code that runs with the rights of the daemon, so no other user may be able to change it.
// Loaded once in a process: a reload of the configuration finds the same module. Used by load-config.ts.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { GatewayModule } from '../../domain/gateway/gateway-module.ts';
import { systemClock, withTimeout } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import { changeableByOthers } from '../file-rights.ts';
import type { SettingReader } from '../reader.ts';
import { SETTINGS } from '../settings/settings.ts';

/** For what a module does before it can be used. */
const LOADING_MS = 5_000;

export interface LoadedModule {
  /** File name, for messages. */
  readonly name: string;
  readonly sign: GatewayModule['sign'] | null;
  readonly read: GatewayModule['read'] | null;
}

/** @returns null: there is none, or it cannot be used, which is reported. */
export async function readModule(reader: SettingReader): Promise<LoadedModule | null> {
  const setting = SETTINGS.answers.module;
  const given = reader.read(setting);
  if (given === null) return null;
  const path = resolve(reader.directoryFor(setting), given);
  const loaded = await moduleAt(path).catch((error: unknown) => {
    const line = error instanceof SyntaxError ? wrongLineOf(path) : '';
    return `${path}${line}: ${messageOf(error)}`;
  });
  if (typeof loaded !== 'string') return loaded;
  reader.report(setting, `gateway.module: ${loaded}`);
  return null;
}

/** @returns the module, or what is wrong with it. */
async function moduleAt(path: string): Promise<LoadedModule | string> {
  if (!statSync(path).isFile()) return `${path} is not a regular file`;
  const rights = changeableByOthers(path);
  if (rights !== null) return rights;
  const loading = import(pathToFileURL(path).href) as Promise<Readonly<Record<string, unknown>>>;
  if (!(await withTimeout(LOADING_MS, loading, systemClock)))
    return `${path} is not loaded after ${LOADING_MS} ms: does it wait for something?`;
  const { sign = null, read = null } = await loading;
  for (const [name, value] of Object.entries({ sign, read })) {
    if (value !== null && typeof value !== 'function') return `${path}: ${name} is not a function`;
  }
  if (sign === null && read === null) return `${path} exports neither sign nor read`;
  return { name: basename(path), sign, read } as LoadedModule;
}

/** Only Node's own check of a file says where it is wrong. @returns `:4`; empty: the error is not in this file. */
function wrongLineOf(path: string): string {
  const { stderr } = spawnSync(process.execPath, ['--check', path], {
    encoding: 'utf8',
    env: {},
    timeout: LOADING_MS,
  });
  // The next line is the wrong one, which may hold a secret.
  return /^.*(:\d+)\n/.exec(stderr)?.[1] ?? '';
}
