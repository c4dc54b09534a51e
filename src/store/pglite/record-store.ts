// The record store without a server: PGlite in a worker thread, with the same SQL and migrations as on a server (../sql). For
// evaluation and the demo; opened by wiring when neither store is configured.
import { chmodSync, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../platform/directory.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { RecordStore } from '../ports/records/record-store.ts';
import { sqlRecordStore } from '../sql/sql-record-store.ts';
import { openPglite } from './client.ts';
import { lockDataDir } from './lock.ts';

interface EmbeddedOptions {
  /** Directory, created when missing; ':memory:' keeps nothing. */
  readonly dataDir: string;
  /** The built worker, dist/pglite-worker.js. */
  readonly workerUrl: URL;
}

/** Throws `busy` while another process has the directory open, `config` when it cannot be opened. */
export async function openEmbeddedRecordStore({ dataDir, workerUrl }: EmbeddedOptions): Promise<RecordStore> {
  if (dataDir === ':memory:') return sqlRecordStore('embedded', await openPglite(workerUrl, dataDir));
  const { realDir, unlock } = takeDir(dataDir);
  try {
    const client = await openPglite(workerUrl, realDir);
    return sqlRecordStore('embedded', {
      ...client,
      close: () => client.close().finally(unlock),
    });
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Creates and locks the directory by its real path, so every spelling of the path gives the same lock. */
function takeDir(dataDir: string): { realDir: string; unlock: () => void } {
  try {
    makeDirectory(dataDir, { mode: 0o700 });
    const realDir = realpathSync(dataDir);
    makePrivate(realDir);
    return { realDir, unlock: lockDataDir(realDir) };
  } catch (error) {
    if (error instanceof CardpollError) throw error;
    throw new CardpollError(
      'config',
      'data_dir_unusable',
      `the data directory cannot be used: ${messageOf(error)}`,
      {
        hint: 'Name a directory that can be written with --data-dir.',
        cause: error,
      },
    );
  }
}

const OTHERS = 0o077;

/**
 * Makes the directory private, because the files of the database are readable by every user, and most of them writable.
 * Refuses (`data_dir_shared`) an open directory that contains other files.
 */
function makePrivate(realDir: string): void {
  if ((statSync(realDir).mode & OTHERS) === 0) return;
  if (!existsSync(join(realDir, 'PG_VERSION')) && readdirSync(realDir).length > 0) {
    throw new CardpollError(
      'config',
      'data_dir_shared',
      `others may look into ${realDir}, which holds other files`,
      { hint: 'name an empty or a new directory with --data-dir' },
    );
  }
  chmodSync(realDir, 0o700);
}
