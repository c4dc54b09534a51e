// `npm run mutate:layers`: mistakes made by a machine in what computes and decides, which its tests must notice. Mistakes in
// Lua and SQL are written by hand (scripts/mutate-stores.js); `npm run mutate` makes both. One layer:
// npm run mutate:layers -- --mutate 'src/domain/**'.

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  mutate: ['src/{domain,engine,operations,platform}/**/*.ts', '!src/platform/log-time.ts'],
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
