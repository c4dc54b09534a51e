// Loads the module of gateway.module: code that runs with the rights of the daemon, so no other user may be able to change it.
// Loaded once per process: a reload of the configuration uses the same module. Used by load-config.ts.
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LoadedModule } from '../../domain/gateway/gateway-config.ts';
import { systemClock, withTimeout } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import { changeableByOthers, effectiveUser } from '../file-rights.ts';
import type { SettingReader } from '../reader.ts';
import { SETTINGS } from '../settings/settings.ts';

/** Time limit for importing the module. */
const LOADING_MS = 5_000;

/** @returns null: no module, or it cannot be used, which is reported. */
export async function readModule(reader: SettingReader): Promise<LoadedModule | null> {
  const setting = SETTINGS.answers.module;
  const given = reader.read(setting);
  if (given === null) return null;
  const path = resolve(reader.directoryFor(setting), given);
  const loaded = await moduleAt(path).catch((error: unknown) => {
    // A SyntaxError has no location; only Node's report of a fatal error has.
    const hint = error instanceof SyntaxError ? `: run node ${path}, which shows the line` : '';
    return `${path}: ${messageOf(error)}${hint}`;
  });
  if (typeof loaded !== 'string') return loaded;
  reader.report(setting, `gateway.module: ${loaded}`);
  return null;
}

/** @returns the module, or its problem. */
async function moduleAt(path: string): Promise<LoadedModule | string> {
  if (!statSync(path).isFile()) return `${path} is not a regular file`;
  const rights = changeableByOthers(path, effectiveUser());
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
