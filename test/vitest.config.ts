import { defineConfig } from 'vitest/config';
import { assetFiles } from './asset-files.ts';

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  plugins: [assetFiles],
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Nothing here is about speed: a busy machine may take its time.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/{unit,contract}/**/*.test.{ts,tsx}'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      // The built binary. After the parts, so that both find a machine to run on.
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/e2e/**/*.test.ts'],
          maxWorkers: 2,
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
