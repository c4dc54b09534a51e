// SqlClient on PGlite in a worker thread. Opened by record-store.ts, which owns the data directory's lock.
//
// PGlite has one connection, so all callers wait in one line: a query holds the line for itself, a transaction from BEGIN to
// COMMIT. When the worker dies, all waiting and later requests fail. Nothing restarts it, because the cause (memory, a damaged
// directory) would end it again.
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import {
  inTransaction,
  type PreparedSql,
  type SqlClient,
  type SqlTransaction,
  type SqlValue,
} from '../sql/client/sql-client.ts';
import { translateSqlError } from '../sql/client/sql-errors.ts';
import type { PgliteReply, PgliteRequest, PgliteWorkerData } from './protocol.ts';

interface Waiting {
  resolve(rows: readonly unknown[]): void;
  reject(error: unknown): void;
}

/** Throws `config` when the directory cannot be opened. @param dataDir absolute path, or ':memory:' */
export async function openPglite(workerUrl: URL, dataDir: string): Promise<SqlClient> {
  const where = dataDir === ':memory:' ? 'the embedded database' : `the embedded database in ${dataDir}`;
  const workerData: PgliteWorkerData = { dataDir };
  const worker = new Worker(workerUrl, { name: 'pglite', workerData });
  /** Callers that wait for a reply, the next one first. */
  const waiting: Waiting[] = [];
  /** Why requests cannot be answered any more. */
  let ended: CardpollError | null = null;

  function end(reason: string): void {
    ended ??= new CardpollError('unavailable', 'embedded_stopped', `${where} has stopped: ${reason}`, {
      hint: 'Restart cardpoll.',
    });
    for (const { reject } of waiting.splice(0)) reject(ended);
  }

  worker.on('message', (reply: PgliteReply) => {
    const request = waiting.shift();
    if ('rows' in reply) request?.resolve(reply.rows);
    else
      request?.reject(translateSqlError(Object.assign(new Error(reply.error.message), reply.error), where));
  });
  worker.on('error', (error) => end(messageOf(error)));
  const exited = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      end('its thread has ended');
      resolve();
    });
  });

  function nextReply(): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  }

  async function send(request: PgliteRequest): Promise<readonly unknown[]> {
    if (ended !== null) throw ended;
    worker.postMessage(request);
    return nextReply();
  }

  const alone = pLimit(1);

  /** Sends at once; only for the caller at the front of the line. */
  const runner: SqlTransaction = {
    query: async <Row>(sql: string | PreparedSql, params: readonly SqlValue[] = []) =>
      (await send({ kind: 'query', sql: typeof sql === 'string' ? sql : sql.text, params })) as Row[],
    script: async (sql) => {
      await send({ kind: 'script', sql });
    },
  };

  try {
    await nextReply();
  } catch (error) {
    await worker.terminate();
    throw new CardpollError(
      'config',
      'embedded_not_opened',
      `${where} cannot be opened: ${messageOf(error)}`,
      {
        hint: 'Check the permissions and free space of --data-dir, or name an empty directory.',
        cause: error,
      },
    );
  }
  return {
    query: (sql, params) => alone(() => runner.query(sql, params)),
    transaction: (work) => alone(() => inTransaction(runner, work)),
    async close() {
      if (ended === null) await alone(() => send({ kind: 'close' })).catch(() => {});
      await exited;
    },
  };
}
