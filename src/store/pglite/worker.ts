// Entry of the worker thread that runs PGlite: a query blocks its thread, up to a second, and the main thread must keep polling.
// Started by client.ts. Executes one request after the other; the client keeps transactions together.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { messageOf } from '../../platform/errors.ts';
import { epochMs, namedRows, TIMESTAMPTZ_OID } from '../sql/client/rows.ts';
import type { PgliteReply, PgliteRequest, PgliteWorkerData } from './protocol.ts';

const port = parentPort;
if (port === null) throw new Error('pglite-worker runs as a worker thread only');

// Keeps the code of V8's first compiler. The optimising compiler takes half a gigabyte of memory at once on Node 24
// (docs/benchmarks.md, "Memory").
for (const flag of ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering']) setFlagsFromString(flag);

const PARSERS = { [TIMESTAMPTZ_OID]: epochMs };

const { dataDir } = workerData as PgliteWorkerData;
const opening = open();

let last = answer(async () => {
  await opening;
  return [];
});

port.on('message', (request: PgliteRequest) => {
  last = last.then(() => answer(async () => execute(await opening, request)));
});

/**
 * A new database starts as a copy of the empty one that the build put next to this file: creating one takes seconds. PG_VERSION
 * is among the last files of the copy, so an interrupted copy is made again.
 */
async function open(): Promise<PGlite> {
  if (existsSync(`${dataDir}/PG_VERSION`)) {
    return PGlite.create({ dataDir: `file://${dataDir}`, parsers: PARSERS });
  }
  const empty = new Blob([await readFile(new URL('./pglite.tar.gz', import.meta.url))], {
    type: 'application/x-gzip',
  });
  return PGlite.create({
    dataDir: dataDir === ':memory:' ? 'memory://' : `file://${dataDir}`,
    loadDataDir: empty,
    parsers: PARSERS,
  });
}

async function execute(db: PGlite, request: PgliteRequest): Promise<readonly unknown[]> {
  if (request.kind === 'query') {
    const { fields, rows } = await db.query<unknown[]>(request.sql, [...request.params], {
      rowMode: 'array',
    });
    return namedRows(fields, rows);
  }
  if (request.kind === 'script') await db.exec(request.sql);
  if (request.kind === 'close') {
    await db.close();
    port?.close();
  }
  return [];
}

async function answer(work: () => Promise<readonly unknown[]>): Promise<void> {
  let reply: PgliteReply;
  try {
    reply = { rows: await work() };
  } catch (error) {
    const { code } = error as { code?: string };
    reply = { error: { message: messageOf(error), code } };
  }
  port?.postMessage(reply);
}
