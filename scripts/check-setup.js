// Says in one sentence what keeps this clone from being built, or with the argument `tests` from being tested. The first thing that
// `npm run build` and `npm test` call. It must run on the Nodes that it refuses, and without any package.
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeRefusal, refuse } from '../bin/refusals.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = join(ROOT, 'node_modules');
/** npm and pnpm write these last: without one the installation was interrupted. */
const NPM_RECORD = join(PACKAGES, '.package-lock.json');
const PNPM_RECORD = join(PACKAGES, '.modules.yaml');
/** What a build writes. */
const WRITTEN = ['dist', 'node_modules/.cache/cardpoll'];
const SHOWN = 5;

const forTests = process.argv[2] === 'tests';
const refusal =
  nodeRefusal(process.version) ?? packageRefusal() ?? writeRefusal() ?? (forTests ? pathRefusal() : null);
if (refusal !== null) refuse(refusal);

function packageRefusal() {
  const hint = '(hint: run `npm ci`)';
  if (![NPM_RECORD, PNPM_RECORD].some((file) => existsSync(file)))
    return `cannot be built: the packages in ${PACKAGES} are missing or incomplete ${hint}`;
  const { dependencies, devDependencies } = read(join(ROOT, 'package.json'));
  const direct = Object.keys({ ...dependencies, ...devDependencies }).map((name) => `node_modules/${name}`);
  const recorded = existsSync(NPM_RECORD) ? Object.keys(read(NPM_RECORD).packages) : [];
  const missing = [...new Set([...direct, ...recorded])].filter(
    (path) => !existsSync(join(ROOT, path, 'package.json')),
  );
  if (missing.length === 0) return null;
  const others = missing.length - SHOWN;
  const shown = others > 0 ? [...missing.slice(0, SHOWN), `${others} more`] : missing;
  const names = new Intl.ListFormat('en-GB').format(shown);
  return `cannot be built: ${names} ${missing.length === 1 ? 'is' : 'are'} missing ${hint}`;
}

function writeRefusal() {
  const hint =
    '(hint: copy the repository to a directory of yours; what is built already runs where it is: node bin/cardpoll.js demo)';
  for (const name of WRITTEN) {
    const target = join(ROOT, name);
    let path = target;
    while (!existsSync(path)) path = dirname(path);
    // A directory that is replaced is removed from the one above it.
    const changed = path === target ? [path, dirname(path)] : [path];
    try {
      for (const directory of changed) accessSync(directory, constants.W_OK | constants.X_OK);
    } catch (error) {
      const why = error instanceof Error ? error.message : error;
      return `cannot be built: ${name} cannot be written: ${why} ${hint}`;
    }
  }
  return null;
}

/** Vite takes these for the end of a path, and vitest decodes paths twice. */
function pathRefusal() {
  if (!/[#?%]/.test(ROOT)) return null;
  return `cannot be tested in ${ROOT}: vitest runs in no path with #, ? or % (hint: move the repository)`;
}

/** @param {string} file */
function read(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
