// What `npm run mutate:layers` runs against its mutants: the tests of the layer it changes (scripts/mutate-layers.js).
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { assetFiles } from './asset-files.ts';
import { FailedFilesAsTests } from './support/failed-files-as-tests.ts';

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  plugins: [assetFiles],
  test: {
    reporters: [new FailedFilesAsTests()],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/after-each-file.ts'],
    expect: { poll: { timeout: 180_000 } },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // It sets the zone of its process, which a thread of Stryker's cannot.
    exclude: ['test/unit/platform/log-time.test.ts'],
    include: [`test/{unit,integration}/${process.env.CARDPOLL_MUTATED_LAYER}/**/*.test.ts`],
  },
});
