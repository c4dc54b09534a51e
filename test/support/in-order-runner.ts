// Runs the tests of a file in its order, for the projects of test/vitest.config.ts whose files may tell one story. vitest knows one
// order for all projects: that of the tests of test/unit, which is drawn.
import { TestRunner } from 'vitest';

type Config = ConstructorParameters<typeof TestRunner>[0];

export default class InOrderRunner extends TestRunner {
  constructor(config: Config) {
    super({ ...config, sequence: { ...config.sequence, shuffle: false } });
  }
}
