import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { assetFiles } from './asset-files.ts';

const globalSetup = ['test/support/global-setup.ts'];

const parts = {
  // Many wait for time or a server: twice the cores of the smallest machine.
  maxWorkers: 4,
  // Modules are read once a process, not once a file: a third of the time. What a file leaves running ends with it.
  isolate: false,
  // WebAssembly as it comes: compiling PGlite for speed costs more than its tests do.
  execArgv: ['--liftoff-only'],
};

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  plugins: [assetFiles],
  test: {
    setupFiles: ['test/support/after-each-file.ts'],
    // Nothing here is about speed: a busy machine may take its time.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    projects: [
      // What needs no server.
      {
        extends: true,
        test: {
          name: 'units',
          include: ['test/unit/**/*.test.{ts,tsx}'],
          // Several times what the slowest takes on a busy machine.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 45_000 } },
          ...parts,
          // They calculate more than they wait, and each process reads all modules anew.
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/{integration,contract}/**/*.test.{ts,tsx}'],
          globalSetup,
          ...parts,
          sequence: { groupOrder: 1 },
        },
      },
      // The built binary. After the parts, so that both find a machine to run on.
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup,
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      // Of units and parts, what npm test shows by a sample and on one adapter only, now as a whole: `npm run test:long`.
      {
        extends: true,
        test: {
          name: 'samples',
          include: sampledFiles(),
          env: { TEST_LONG: '1' },
          globalSetup,
          ...parts,
          sequence: { groupOrder: 3 },
        },
      },
      // Minutes each: `npm run test:long`, not part of npm test.
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/{fault,long}/**/*.test.ts'],
          globalSetup,
          maxWorkers: 2,
          sequence: { groupOrder: 4 },
        },
      },
      // Upgrades: `npm run test:deb-upgrade` (as root) and `npm run test:upgrade`, not part of npm test.
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['test/packages/**/*.test.ts'],
          globalSetup,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
});

/** See docs/decisions/0040-what-the-suite-repeats.md. */
function sampledFiles(): string[] {
  const folder = new URL('.', import.meta.url).pathname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const isSampled = (file: string) =>
    /\.test\.tsx?$/.test(file) &&
    /\/effort\.ts'|describeRecordStore\(/.test(readFileSync(`${folder}${file}`, 'utf8'));
  return files.filter(isSampled).map((file) => `test/${file}`);
}
