import { defineConfig } from 'vitest/config';
import { assetFiles } from './asset-files.ts';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  plugins: [assetFiles],
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/after-each-file.ts'],
    // Nothing here is about speed: a busy machine may take its time.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/{unit,integration,contract}/**/*.test.{ts,tsx}'],
          // Many wait for time or a server: twice the cores of the smallest machine.
          maxWorkers: 4,
          // Modules are read once a process, not once a file: a third of the time. What a file leaves running ends with it.
          isolate: false,
          // WebAssembly as it comes: compiling PGlite for speed costs more than its tests do.
          execArgv: ['--liftoff-only'],
          sequence: { groupOrder: 0 },
        },
      },
      // The built binary. After the parts, so that both find a machine to run on.
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/e2e/**/*.test.ts'],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      // Minutes each: `npm run test:long`, not part of npm test.
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/{fault,long}/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      // As root: `npm run test:deb-upgrade`, not part of npm test.
      {
        extends: true,
        test: { name: 'packages', include: ['test/packages/**/*.test.ts'], sequence: { groupOrder: 3 } },
      },
    ],
  },
});
