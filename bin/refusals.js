// What keeps cardpoll from starting, as one sentence: a Node that is too old, or files that are not installed. Used by cardpoll.js,
// by scripts/check-setup.js before a build, and by src/cli/run.ts for packages that are loaded later. It must run on the Nodes
// that it refuses, without any package.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('..', import.meta.url);
/** EX_CONFIG of sysexits.h: the unit does not restart the daemon for it (src/platform/exit-codes.ts). */
const EXIT_CONFIG = 78;

/** @param {string} version as process.version @returns {string | null} null: cardpoll runs on it. */
export function nodeRefusal(version) {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
  const least = engines.node.replace('>=', '');
  const [major = 0, minor = 0] = version.replace('v', '').split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return null;
  return `needs Node ${least} or later; this is ${version} (hint: install a newer Node, and put it first on PATH)`;
}

/**
 * @param {Error & { code?: string }} error why dist/main.js cannot be imported
 * @throws the error, if it is another one than that files are missing.
 */
export function importRefusal(error) {
  const incomplete = incompleteInstallation(error);
  if (incomplete === null) throw error;
  const root = fileURLToPath(ROOT);
  if (!existsSync(new URL('dist/main.js', ROOT)))
    return `is not built: ${root}dist/main.js is missing (hint: run \`npm ci && npm run build\` in ${root})`;
  return `${incomplete.message} (hint: ${incomplete.hint})`;
}

/** @param {Error & { code?: string }} error @returns null: it is another error than that a package is missing. */
export function incompleteInstallation(error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') return null;
  const [what] = error.message.split('\n');
  const hint = `run \`npm ci\` in ${fileURLToPath(ROOT)}, or install cardpoll again`;
  return { message: `is not installed completely: ${what}`, hint };
}

/** Writes the sentence, and sets the exit code. @param {string} sentence */
export function refuse(sentence) {
  process.exitCode = EXIT_CONFIG;
  process.stderr.write(`cardpoll: ${sentence}\n`);
}
