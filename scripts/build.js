// Bundles src/ into dist/: one entry for the binary, one for each kind of worker thread.
// Beside them goes an empty PGlite database, so that no first start has to make one.
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import { build } from 'esbuild';
import { buildCommit } from './build-commit.js';
import { BUNDLED } from './bundled.js';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'src/main.ts',
    'pglite-worker': 'src/store/pglite/worker.ts',
    'log-scan-worker': 'src/log-search/scan-worker.ts',
  },
  outdir: 'dist',
  splitting: true,
  sourcemap: true,
  define: { BUILD_COMMIT: JSON.stringify(buildCommit(root)) },
  ...BUNDLED,
});
cpSync(await emptyDatabase(), `${root}dist/pglite.tar.gz`);

/**
 * Made once for every version of PGlite. A first start that copies it takes 9.0 s of processor time instead of the 13.8 s of
 * `initdb`; the package grows by 4.5 MB.
 */
async function emptyDatabase() {
  const manifest = readFileSync(`${root}node_modules/@electric-sql/pglite/package.json`, 'utf8');
  const cache = `${root}node_modules/.cache/cardpoll`;
  const file = `${cache}/pglite-${JSON.parse(manifest).version}.tar.gz`;
  if (existsSync(file)) return file;
  mkdirSync(cache, { recursive: true });
  const database = await PGlite.create('memory://');
  const archive = await database.dumpDataDir('gzip');
  await database.close();
  writeFileSync(`${file}.${process.pid}`, new Uint8Array(await archive.arrayBuffer()));
  renameSync(`${file}.${process.pid}`, file);
  return file;
}
