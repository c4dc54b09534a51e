// Runs with every test file (test/vitest.config.ts), since many share a process: ends what the file has left running.
import { afterAll } from 'vitest';
import { stopFreshStores } from './fresh-stores.ts';
import { endOwnedProcesses } from './owned-process.ts';

afterAll(async () => {
  await stopFreshStores();
  await endOwnedProcesses();
});
