import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { assetFiles } from './asset-files.ts';

const globalSetup = ['test/support/global-setup.ts'];
/** The order of tests in a file is drawn for those of test/unit, and vitest prints the seed. */
const runner = 'test/support/in-order-runner.ts';

/** Of npm test: one after another as workers become free, parts first; units, which take no time, fill the end. */
const daily = { sequence: { groupOrder: 0 } };

const shared = {
  // Most wait for time or a server: three times the cores of the smallest machine.
  maxWorkers: 6,
  // Modules are read once a process, not once a file: a third of the time. What a file leaves running ends with it.
  isolate: false,
};

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  plugins: [assetFiles],
  test: {
    setupFiles: ['test/support/after-each-file.ts'],
    // Nothing is about speed: a busy machine may take its time.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 180_000 } },
    sequence: { shuffle: { tests: true } },
    projects: [
      // What needs no server.
      {
        extends: true,
        test: { ...daily, ...shared, name: 'units', include: ['test/unit/**/*.test.{ts,tsx}'] },
      },
      // Parts on real servers, and the built binary as it is: one project, since each has processes of its own that read the modules.
      {
        extends: true,
        test: {
          ...daily,
          ...shared,
          name: 'parts',
          include: ['test/{integration,contract,e2e}/**/*.test.{ts,tsx}'],
          globalSetup,
          runner,
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
          runner,
          ...shared,
          sequence: { groupOrder: 1 },
        },
      },
      // Minutes each: `npm run test:long`, not part of npm test.
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/{fault,long}/**/*.test.ts'],
          globalSetup,
          runner,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      // Upgrades: `npm run test:deb-upgrade` (as root) and `npm run test:upgrade`, not part of npm test.
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['test/packages/**/*.test.ts'],
          globalSetup,
          runner,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});

/** The files of the project `samples` (CONTRIBUTING.md, "Working on it"). */
function sampledFiles(): string[] {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const isSampled = (file: string) =>
    /\.test\.tsx?$/.test(file) &&
    /\/effort\.ts'|describeRecordStore\(/.test(readFileSync(`${folder}${file}`, 'utf8'));
  return files.filter(isSampled).map((file) => `test/${file}`);
}
