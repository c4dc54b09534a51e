// What only the embedded store has: a data directory that one process may open, and a worker thread that may die.
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { lockDataDir } from '../../../src/store/pglite/lock.ts';
import { openEmbeddedRecordStore } from '../../../src/store/pglite/record-store.ts';
import type { RecordStore } from '../../../src/store/ports/records/record-store.ts';
import { endOwnedProcesses, endProcess, spawnOwned } from '../../support/owned-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { addCards, range, WORKER_URL } from './stores.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Inside the checkout, so that the bundle finds the packages. */
const HOLDER = join(ROOT, `node_modules/.cache/cardpoll-test/holder-${process.pid}.mjs`);
const HOLDER_SOURCE = `
  import { openEmbeddedRecordStore } from './src/store/pglite/record-store.ts';
  const [dataDir, worker] = process.argv.slice(2);
  try {
    const store = await openEmbeddedRecordStore({ dataDir, workerUrl: new URL(worker) });
    await store.cards.importChunk([
      { cardId: 1, iccid: '898600000000000001', carrierId: 1, status: 1, allowanceMb: 1, vendorId: null, realNameVerified: null },
    ]);
    console.log('open');
  } catch (error) {
    console.log(error.kind, error.message);
  }
`;

/** A migrated database, copied by tests that do not ask how one comes to be: to make one takes seconds. */
const migrated = temporaryDirectory('embedded-migrated');
let dir: string;
const opened: RecordStore[] = [];

beforeAll(async () => {
  await build({
    stdin: { contents: HOLDER_SOURCE, resolveDir: ROOT, loader: 'ts' },
    outfile: HOLDER,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    loader: { '.sql': 'text' },
  });
  const store = await openEmbeddedRecordStore({ dataDir: join(migrated, 'data'), workerUrl: WORKER_URL });
  await store.migrations.up();
  await store.close();
});
beforeEach(() => {
  dir = temporaryDirectory('embedded');
});

/** @returns a migrated data directory of the test's own */
function copied(name = 'data'): string {
  const dataDir = join(dir, name);
  cpSync(join(migrated, 'data'), dataDir, { recursive: true });
  return dataDir;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await endOwnedProcesses();
});
afterAll(() => rmSync(HOLDER, { force: true }));

async function open(dataDir = join(dir, 'data'), workerUrl = WORKER_URL): Promise<RecordStore> {
  const store = await openEmbeddedRecordStore({ dataDir, workerUrl });
  opened.push(store);
  return store;
}

/** Another process that opens the directory and keeps it open; resolves with its first line. */
async function holder() {
  const child = spawnOwned(process.execPath, [HOLDER, join(dir, 'data'), WORKER_URL.href], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line');
  return { child, line };
}

it('keeps its records from one opening to the next, and is open once in between', async () => {
  copied();
  const store = await open();
  await addCards(store, 1, 2);
  await expect(open()).rejects.toMatchObject({
    kind: 'busy',
    message: expect.stringContaining(`${process.pid}`),
  });
  await store.close();
  expect(existsSync(join(dir, 'data.lock'))).toBe(false);
  const again = await open();
  expect(await again.migrations.up()).toEqual([]);
  expect(await again.cards.count()).toBe(2);
});

it('starts again when a kill cut off the first opening', async () => {
  // As it is left: some files of the empty database, one of them half written, and not yet PG_VERSION, of the last.
  mkdirSync(join(dir, 'data/global'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, 'data/global/pg_control'), 'half');
  const store = await open();
  expect((await store.migrations.status()).every(({ appliedAtMs }) => appliedAtMs === null)).toBe(true);
});

it('belongs to one process by whatever name, and after its death to one of those who want it', async () => {
  copied();
  const first = await holder();
  expect(first.line).toBe('open');
  symlinkSync(join(dir, 'data'), join(dir, 'link'));
  for (const name of ['data', 'link']) {
    await expect(open(join(dir, name))).rejects.toMatchObject({
      kind: 'busy',
      message: expect.stringContaining(`${first.child.pid}`),
    });
  }
  await endProcess(first.child, 'SIGKILL');
  expect(existsSync(join(dir, 'data.lock'))).toBe(true);

  const others = await Promise.all(range(2).map(() => holder()));
  expect(others.filter(({ line }) => line === 'open')).toHaveLength(1);
  expect(others.filter(({ line }) => line.startsWith('busy'))).toHaveLength(1);
  await endOwnedProcesses();
  const store = await open();
  expect((await store.cards.page(0, 10)).map((card) => card.cardId)).toEqual([1]);
});

it.each([
  ['a process whose id was used again', JSON.stringify({ pid: process.pid, started: '1' })],
  ['nobody', ''],
  ['something else', '{"pid":"x"}'],
])('takes over a lock that names %s', (_, content) => {
  writeFileSync(join(dir, 'data.lock'), content);
  lockDataDir(join(dir, 'data'))();
  expect(readdirSync(dir)).toEqual([]);
});

it('gives the lock up when the directory cannot be opened', async () => {
  const missing = new URL('no-such-worker.js', WORKER_URL);
  await expect(open(join(dir, 'data'), missing)).rejects.toMatchObject({ kind: 'config' });
  expect(readdirSync(dir)).toEqual(['data']);
  writeFileSync(join(dir, 'file'), '');
  await expect(open(join(dir, 'file'))).rejects.toMatchObject({ kind: 'config' });
});

it('fails what runs and what comes when its worker dies, and closes', async () => {
  // The real worker, with a switch to kill it.
  const killable = join(dir, 'worker.mjs');
  writeFileSync(
    killable,
    `import { BroadcastChannel } from 'node:worker_threads';
     const channel = new BroadcastChannel('${dir}');
     channel.onmessage = () => process.exit(1);
     channel.unref();
     await import('${WORKER_URL.href}');`,
  );
  const store = await open(copied(), pathToFileURL(killable));
  const running = store.cards.count();
  const queued = store.cards.count();
  const failures = Promise.allSettled([running, queued]);
  const channel = new BroadcastChannel(dir);
  channel.postMessage('die');
  await failures;
  channel.close();
  await expect(waitForEnd(store)).rejects.toMatchObject({ kind: 'unavailable', code: 'embedded_stopped' });
  await expect(store.ping()).rejects.toMatchObject({ kind: 'unavailable' });
  await store.close();
});

/** Asks until an answer fails. */
async function waitForEnd(store: RecordStore): Promise<never> {
  for (;;) await store.ping();
}

it('keeps others out of a directory that was open to them', async () => {
  const dataDir = copied();
  chmodSync(dataDir, 0o755);
  await open(dataDir);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

it('refuses an open directory with other files in it, and leaves it as it is', async () => {
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, 'notes.txt'), 'mine');
  await expect(openEmbeddedRecordStore({ dataDir: dir, workerUrl: WORKER_URL })).rejects.toMatchObject({
    kind: 'config',
    code: 'data_dir_shared',
  });
  expect(statSync(dir).mode & 0o777).toBe(0o755);
  expect(readdirSync(dir)).toEqual(['notes.txt']);
});
