// What scripts/mutate-layers.js (`npm run mutate:layers`) runs, a layer at a time.

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutate.vitest.config.ts' },
  // There is nothing in it to rewrite for the copy, and TypeScript 7 has no interface to do it with.
  tsconfigFile: 'none',
  concurrency: 1,
  dryRunTimeoutMinutes: 30,
  reporters: ['clear-text'],
  clearTextReporter: { logTests: false, reportTests: false },
  thresholds: { high: 90, low: 85, break: 85 },
  tempDirName: '.stryker',
};
