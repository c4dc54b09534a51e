// For the mutation tests alone (test/mutate.vitest.config.ts): Stryker's runner looks at tests and nothing else, so a mistake
// that keeps a test file from loading would pass for one that no test notices (stryker-js, issue 6150). Such a file gets
// a test that failed.
import type { Reporter, RunnerTestCase, RunnerTestFile, RunnerTestSuite, Vitest } from 'vitest/node';

export class FailedFilesAsTests implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(): void {
    for (const file of this.#vitest?.state.getFiles() ?? []) {
      if (file.result?.state === 'fail' && !hasFailedTest(file)) file.tasks.push(failedTestOf(file));
    }
  }
}

function hasFailedTest({ tasks }: RunnerTestSuite): boolean {
  return tasks.some((task) => (task.type === 'suite' ? hasFailedTest(task) : task.result?.state === 'fail'));
}

/** A test's context is made by who runs it, and nobody asks for it when the run is over. */
function failedTestOf(file: RunnerTestFile): RunnerTestCase {
  const { id, result } = file;
  const name = 'loads, and what comes before its tests works';
  return { type: 'test', id: `${id}_file`, name, mode: 'run', file, result } as RunnerTestCase;
}
