// Finds the files of secrets that the installed unit gives to its daemon, but that a command would not read: a configuration
// without `secret_files`, for example of an older version. Used by the doctor and migrate, which would otherwise report on other
// stores. Also reads the names of the unit's proxies. The config file names the secrets, because a fixed path would be right for
// one configuration only: a command with another config file must not get the secrets of the fleet on this machine.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { presence } from './file-rights.ts';

const UNITS = ['etc/systemd/system/cardpoll.service', 'usr/lib/systemd/system/cardpoll.service'];
const DIRECTORIES = ['etc/credstore', 'run/credstore'];
export const UNIT_ENVIRONMENT = '/etc/default/cardpoll';
const STORES = ['redis_url', 'database_url'];

/** Line for the config file, as the package writes it. */
export const SECRET_FILES_LINE = 'secret_files: [/etc/credstore/cardpoll.*, /run/credstore/cardpoll.*]';

/** @returns paths of the URLs of stores, or the directory that may have them; empty if no unit is installed. */
export function secretsOfUnit(root = '/'): string[] {
  const is = (path: string, what: ReturnType<typeof presence>) => presence(join(root, path)) === what;
  if (!isUnitInstalled(root)) return [];
  return DIRECTORIES.flatMap((directory) => [directory, `${directory}.encrypted`]).flatMap((directory) => {
    const paths = STORES.map((name) => `${directory}/cardpoll.${name}`);
    const found = paths.filter((path) => is(path, 'present'));
    const hidden = paths.some((path) => is(path, 'hidden')) ? [directory] : [];
    return [...found, ...hidden].map((path) => join(root, path));
  });
}

/**
 * @returns `HTTPS_PROXY` and the like, as the environment of the unit names them; empty if no unit is installed or it is
 * unreadable.
 */
export function proxyVariablesOfUnit(root = '/'): string[] {
  if (!isUnitInstalled(root)) return [];
  try {
    const text = readFileSync(join(root, UNIT_ENVIRONMENT), 'utf8');
    return [...text.matchAll(/^\s*(https?_proxy)=["']?[^"'\s]/gim)].map(([, name = '']) => name);
  } catch {
    return [];
  }
}

function isUnitInstalled(root: string): boolean {
  return UNITS.some((unit) => presence(join(root, unit)) === 'present');
}
