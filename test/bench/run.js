// Runs one benchmark by name: `node test/bench/run.js <name> [arguments]`, called by the bench:* scripts of package.json.
// Bundles test/bench/<name>.ts on the fly, as the product, and calls its `run(arguments)`. A benchmark ends with one line of JSON.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { BUNDLED } from '../../scripts/bundled.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [name = '', ...args] = process.argv.slice(2);
const source = `${root}test/bench/${name}.ts`;
if (!/^[a-z-]+$/.test(name) || !existsSync(source)) {
  const names = readdirSync(`${root}test/bench`).filter((file) => file.endsWith('.ts'));
  process.stderr.write(`usage: node test/bench/run.js ${names.map((file) => file.slice(0, -3)).join('|')}\n`);
  process.exitCode = 64;
} else {
  const outfile = `${root}node_modules/.cache/cardpoll-bench/${name}.mjs`;
  await build({
    entryPoints: [source],
    outfile,
    ...BUNDLED,
  });
  const bench = await import(pathToFileURL(outfile).href);
  await bench.run(args);
}
