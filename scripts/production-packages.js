// Which packages in node_modules a release contains: those of package-lock.json that are not for development. Used by
// package-deb.js, which copies them: what was tested is what is packed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ version: string, integrity?: string, dev?: boolean, optional?: boolean }} Locked */

/**
 * @param {string} root of the repository.
 * @returns {string[]} paths below it, `node_modules/ink`. Throws where node_modules is not what the lock file says.
 */
export function productionPackages(root) {
  const record = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(record)) throw new Error('node_modules was not installed by npm; run: npm ci');
  const installed = lockedIn(record);
  const wanted = [...lockedIn(join(root, 'package-lock.json'))].filter(
    ([path, { dev }]) => path !== '' && !dev,
  );
  const wrong = wanted.filter(([path, { integrity, optional }]) => {
    const found = installed.get(path);
    return found === undefined ? !optional : found.integrity !== integrity;
  });
  if (wrong.length > 0) {
    const names = wrong.map(([path, { version }]) => `${path} ${version}`).join(', ');
    throw new Error(`node_modules is not what package-lock.json says (${names}); run: npm ci`);
  }
  // Optional packages are for other machines, or could not be built here.
  return wanted.map(([path]) => path).filter((path) => installed.has(path));
}

/** @param {string} file @returns {Map<string, Locked>} */
function lockedIn(file) {
  return new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages));
}
