import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

/** Loads .lua and .sql files as strings, as .build.js does for the bundle. */
const textFiles = {
  name: 'text-files',
  enforce: 'pre' as const,
  load(id: string) {
    return /\.(lua|sql)$/.test(id) ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}` : null;
  },
};

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  plugins: [textFiles],
  test: {
    include: ['test/{unit,contract,e2e,fault}/**/*.test.{ts,tsx}'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
