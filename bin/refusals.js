// What keeps cardpoll from starting, as one sentence: a Node that is too old, or files that are not installed. Used by cardpoll.js,
// and by scripts/check-setup.js before a build. It must run on the Nodes that it refuses, without any package.
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
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  const root = fileURLToPath(ROOT);
  if (!existsSync(new URL('dist/main.js', ROOT)))
    return `is not built: ${root}dist/main.js is missing (hint: run \`npm ci && npm run build\` in ${root})`;
  const [what] = error.message.split('\n');
  return `is not installed completely: ${what} (hint: run \`npm ci\` in ${root}, or install cardpoll again)`;
}

/** Writes the sentence, and sets the exit code. @param {string} sentence */
export function refuse(sentence) {
  process.exitCode = EXIT_CONFIG;
  process.stderr.write(`cardpoll: ${sentence}\n`);
}
