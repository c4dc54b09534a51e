// Proves that the tests of a layer notice mistakes made by a machine in what computes and decides: `npm run mutate:layers [--
// FILE ...]`, all layers or some files of them. A layer at a time with its own tests: what others happen to notice is not
// counted, and all tests of all layers for each mistake would take days. Lists what survived; ends with 1 where a layer is
// below the threshold of stryker.config.js. Hours for all, minutes for a file. Mistakes in Lua and SQL: mutate-stores.js.
import { spawnSync } from 'node:child_process';

const LAYERS = ['domain', 'engine', 'operations', 'platform'];
/** Its test sets the zone of its process, which a thread of Stryker's cannot. */
const UNTESTED = '!src/platform/logger.ts';

const files = process.argv.slice(2);
for (const layer of LAYERS) {
  const folder = `src/${layer}/`;
  const mutated = files.length === 0 ? [`${folder}**/*.ts`] : files.filter((file) => file.startsWith(folder));
  if (mutated.length === 0) continue;
  const { status } = spawnSync('npx', ['stryker', 'run', '--mutate', [...mutated, UNTESTED].join(',')], {
    stdio: 'inherit',
    env: { ...process.env, CARDPOLL_MUTATED_LAYER: layer },
  });
  if (status !== 0) process.exitCode = 1;
}
const foreign = files.filter((file) => !LAYERS.some((layer) => file.startsWith(`src/${layer}/`)));
if (foreign.length > 0) {
  process.stderr.write(`in none of ${LAYERS.join(', ')}: ${foreign.join(', ')}\n`);
  process.exitCode = 64;
}
