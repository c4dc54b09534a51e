// One daemon of a fleet of processes, with its own ways to the stores. It is started anew after it has ended, as by a service manager.
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { BreakableLink } from '../../support/breakable-link.ts';
import { freePort } from '../../support/free-port.ts';
import { endProcess, isRunning, spawnOwned } from '../../support/owned-process.ts';

// The bundle lies in node_modules/.cache/cardpoll-world, three folders below the root.
const BINARY = fileURLToPath(new URL('../../../bin/cardpoll.js', import.meta.url));

/** What a daemon may log for a proof to show; more is of no use. */
const LOG_CHARACTERS = 20_000;

interface Ways {
  /** null: the nodes of a cluster, which name each other. */
  readonly live: BreakableLink | null;
  readonly records: BreakableLink;
}

export class Daemon {
  #child: ChildProcess | null = null;
  #errors = '';

  private constructor(
    readonly id: string,
    readonly url: string,
    readonly ways: Ways,
    private readonly env: NodeJS.ProcessEnv,
    private readonly onEnd: (how: string) => void,
  ) {}

  static async start(
    id: string,
    stores: { readonly redisUrl: string; readonly isCluster: boolean; readonly databaseUrl: string },
    env: Readonly<Record<string, string>>,
    onEnd: (how: string) => void,
  ): Promise<Daemon> {
    const live = stores.isCluster ? null : await BreakableLink.to(portOf(stores.redisUrl));
    const records = await BreakableLink.to(portOf(stores.databaseUrl));
    const daemon = new Daemon(
      id,
      `http://127.0.0.1:${await freePort()}`,
      { live, records },
      {
        ...process.env,
        CARDPOLL_REDIS_URL: live?.around(stores.redisUrl) ?? stores.redisUrl,
        CARDPOLL_DATABASE_URL: records.around(stores.databaseUrl),
        ...env,
      },
      onEnd,
    );
    daemon.begin();
    return daemon;
  }

  begin(): void {
    const args = ['daemon', '--listen', new URL(this.url).host];
    const child = spawnOwned(BINARY, args, { env: this.env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    child.stderr?.on('data', (chunk) => {
      this.#errors = `${this.#errors}${chunk}`.slice(-LOG_CHARACTERS);
    });
    child.once('exit', (code, signal) =>
      this.onEnd(signal ?? `code ${code}: ${this.#errors.trim().split('\n').at(-1)}`),
    );
  }

  get isRunning(): boolean {
    return this.#child !== null && isRunning(this.#child);
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isRunning) this.#child?.kill(signal);
  }

  async close(): Promise<void> {
    if (this.#child !== null) await endProcess(this.#child, 'SIGTERM', 60_000);
    await this.ways.live?.close();
    await this.ways.records.close();
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
