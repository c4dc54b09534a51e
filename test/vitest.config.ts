import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { assemble } from '../.wat.js';

/** Loads .lua and .sql files as strings and .wat files as bytes, as .build.js does for the bundle. */
const assetFiles = {
  name: 'asset-files',
  enforce: 'pre' as const,
  async load(id: string) {
    if (/\.(lua|sql)$/.test(id)) return `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`;
    if (/\.wat$/.test(id)) return `export default Uint8Array.of(${await assemble(id)})`;
    return null;
  },
};

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  plugins: [assetFiles],
  test: {
    include: ['test/{unit,contract,e2e,fault}/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
