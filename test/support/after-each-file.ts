// Runs with every test file (test/vitest.config.ts), since many share a process: ends what the file has left
// running and removes its directories.
import { afterAll } from 'vitest';
import { noteCosts } from './file-costs.ts';
import { stopFreshStores } from './fresh-stores.ts';
import { endOwnedProcesses } from './owned-process.ts';
import { removeTemporaryDirectories } from './temporary-directory.ts';

noteCosts();
afterAll(async () => {
  await stopFreshStores();
  await endOwnedProcesses();
  removeTemporaryDirectories();
});
