/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutate.vitest.config.ts', related: true },
  mutate: ['src/{domain,engine,operations,platform}/**/*.ts'],
  coverageAnalysis: 'perTest',
  concurrency: 1,
  reporters: ['clear-text', 'json'],
  // There is nothing in it to rewrite for the copy, and TypeScript 7 has no interface to do it with.
  tsconfigFile: 'none',
  tempDirName: '.stryker',
  ignorePatterns: ['dist', 'docs/pictures', 'node_modules/.cache'],
};
