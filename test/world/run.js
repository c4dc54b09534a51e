// Bundles test/world/<name>.ts on the fly, as the product, with the world's transport in the place of undici, and calls its
// `run(arguments)`: `node test/world/run.js prove --seeds 5`.
import { rmSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { BUNDLED } from '../../scripts/bundled.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [name = 'prove', ...args] = process.argv.slice(2);
const isChild = process.env.CARDPOLL_WORLD !== undefined;
const outfile =
  process.env.CARDPOLL_WORLD ?? `${root}node_modules/.cache/cardpoll-world/${name}-${process.pid}.mjs`;
/** @type {import('esbuild').Plugin} */
const transport = {
  name: 'transport',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^undici$/ }, ({ importer }) =>
      importer.endsWith('virtual/undici.ts')
        ? { path: 'undici', external: true }
        : { path: `${root}test/world/virtual/undici.ts` },
    ),
};
if (!isChild)
  await build({
    entryPoints: [`${root}test/world/${name}.ts`],
    outfile,
    ...BUNDLED,
    plugins: [transport, ...(BUNDLED.plugins ?? [])],
  });
const entry = await import(pathToFileURL(outfile).href);
process.exitCode = await entry.run(args, { root, outfile });
if (!isChild) rmSync(outfile);
