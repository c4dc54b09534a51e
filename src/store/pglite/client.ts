// SqlClient on PGlite in a worker thread. Opened by record-store.ts, which owns the data directory's lock.
//
// PGlite has one connection, so everything waits in one line: a query takes the line for itself, a transaction from
// BEGIN to COMMIT. A worker that dies fails what waits and whatever comes later; nothing restarts it, since what
// killed it (memory, a damaged directory) would do so again.
import { Worker } from 'node:worker_threads';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import {
  inTransaction,
  type PreparedSql,
  type SqlClient,
  type SqlTransaction,
  type SqlValue,
} from '../sql/client/sql-client.ts';
import { translateSqlError } from '../sql/client/sql-errors.ts';
import { OPENING, type PgliteReply, type PgliteRequest, type PgliteWorkerData } from './protocol.ts';

interface Waiting {
  resolve(rows: readonly unknown[]): void;
  reject(error: unknown): void;
}

type Task =
  | { kind: 'query'; sql: string; params: readonly SqlValue[] }
  | { kind: 'script'; sql: string }
  | { kind: 'close' };

export class PgliteClient implements SqlClient {
  readonly #worker: Worker;
  readonly #where: string;
  readonly #exited: Promise<void>;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = OPENING;
  #line: Promise<unknown> = Promise.resolve();
  /** Why no request can be answered any more. */
  #ended: CardpollError | null = null;

  private constructor(workerUrl: URL, data: PgliteWorkerData) {
    this.#where =
      data.dataDir === ':memory:' ? 'the embedded database' : `the embedded database in ${data.dataDir}`;
    this.#worker = new Worker(workerUrl, { name: 'pglite', workerData: data });
    this.#worker.on('message', (reply: PgliteReply) => this.#receive(reply));
    this.#worker.on('error', (error) => this.#end(messageOf(error)));
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#end('its thread has ended');
        resolve();
      });
    });
  }

  /** Throws `config` when the directory cannot be opened. @param dataDir absolute path, or ':memory:' */
  static async open(workerUrl: URL, dataDir: string): Promise<PgliteClient> {
    const client = new PgliteClient(workerUrl, { dataDir });
    try {
      await client.#reply(client.#nextId++);
      return client;
    } catch (error) {
      await client.#worker.terminate();
      throw new CardpollError(
        'config',
        'embedded_not_opened',
        `${client.#where} cannot be opened: ${messageOf(error)}`,
        {
          hint: 'Check the permissions and free space of --data-dir, or name an empty directory.',
          cause: error,
        },
      );
    }
  }

  query<Row>(sql: string | PreparedSql, params: readonly SqlValue[] = []): Promise<Row[]> {
    return this.#alone(() => this.#runner.query<Row>(sql, params));
  }

  transaction<T>(work: (tx: SqlTransaction) => Promise<T>): Promise<T> {
    return this.#alone(() => inTransaction(this.#runner, work));
  }

  async close(): Promise<void> {
    if (this.#ended === null) await this.#alone(() => this.#send({ kind: 'close' })).catch(() => {});
    await this.#exited;
  }

  /** Sends at once; only for the caller whose turn it is. */
  readonly #runner: SqlTransaction = {
    query: async <Row>(sql: string | PreparedSql, params: readonly SqlValue[] = []) =>
      (await this.#send({ kind: 'query', sql: typeof sql === 'string' ? sql : sql.text, params })) as Row[],
    script: async (sql) => {
      await this.#send({ kind: 'script', sql });
    },
    // Nothing is limited here.
    longScript: (sql) => this.#runner.script(sql),
  };

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#line.then(work);
    this.#line = result.catch(() => {});
    return result;
  }

  async #send(task: Task): Promise<readonly unknown[]> {
    if (this.#ended !== null) throw this.#ended;
    const id = this.#nextId++;
    const reply = this.#reply(id);
    this.#worker.postMessage({ id, ...task } satisfies PgliteRequest);
    return reply;
  }

  #reply(id: number): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #receive(reply: PgliteReply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ('rows' in reply) waiting?.resolve(reply.rows);
    else
      waiting?.reject(
        translateSqlError(Object.assign(new Error(reply.error.message), reply.error), this.#where),
      );
  }

  #end(reason: string): void {
    this.#ended ??= new CardpollError(
      'unavailable',
      'embedded_stopped',
      `${this.#where} has stopped: ${reason}`,
      { hint: 'Restart cardpoll.' },
    );
    for (const waiting of this.#waiting.values()) waiting.reject(this.#ended);
    this.#waiting.clear();
  }
}
