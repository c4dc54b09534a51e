// Tests of packages as they are installed. Not part of npm test: they build packages, and take minutes.
import base from '../vitest.config.ts';

export default {
  ...base,
  test: { ...base.test, projects: undefined, include: ['test/packages/**/*.test.ts'] },
};
