// Bundles src/ into dist/: one entry for the binary, one for each kind of worker thread.
// Packages stay external (npm installs them); Lua and SQL files become strings in the bundle, WebAssembly text bytes.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';
import { watPlugin } from './.wat.js';

const root = new URL('.', import.meta.url).pathname;
rmSync(`${root}dist`, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: {
    main: 'src/main.ts',
    'pglite-worker': 'src/store/embedded/pglite-worker.ts',
    'log-scan-worker': 'src/log-search/scan/scan-worker.ts',
  },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  loader: { '.lua': 'text', '.sql': 'text' },
  plugins: [watPlugin],
  logLevel: 'warning',
});
