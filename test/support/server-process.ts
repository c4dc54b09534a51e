// One throwaway server in a temporary directory: start, stop, kill, freeze, restart. What it is made of (command,
// arguments, how to ask whether it answers) comes from redis-server.ts and postgres-server.ts.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { endProcess, isRunning, type Owner, spawnOwned } from './owned-process.ts';
import { waitFor } from './wait-for.ts';

export interface ServerSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Working directory, removed by stop(). */
  readonly dir: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly owner?: Owner | undefined;
  readonly stopSignal: NodeJS.Signals;
  /** True once the server really answers a client; false or a throw means not yet. */
  readonly answers: () => Promise<boolean>;
}

export class ServerProcess {
  #child: ChildProcess | null = null;
  #output = '';

  constructor(private readonly spec: ServerSpec) {}

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error(`${this.spec.name} was not started`);
    return this.#child.pid;
  }

  /** Starts it and waits until it answers. A server that ends instead is tried again: its port may still be closing. */
  async start(): Promise<void> {
    await waitFor(() => this.#startOnce(), { what: `${this.spec.name} to answer` });
  }

  /** Orderly stop, SIGKILL after a grace period; removes the directory. Safe to call twice. */
  async stop(): Promise<void> {
    await this.#end(this.spec.stopSignal);
    rmSync(this.spec.dir, { recursive: true, force: true });
  }

  /** Ends it with this signal and waits until it and its children are gone; the directory stays for restart(). */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.#end(signal);
  }

  /** Starts it again on the same port and directory, after an orderly stop if it still runs. */
  async restart(): Promise<void> {
    await this.#end(this.spec.stopSignal);
    await this.start();
  }

  /** Freezes the server and its children: connections stay open and nothing answers. */
  pause(): void {
    this.#signalAll('SIGSTOP');
  }

  resume(): void {
    this.#signalAll('SIGCONT');
  }

  async #startOnce(): Promise<boolean> {
    const { name, command, args, dir, env, owner, answers } = this.spec;
    this.#output = '';
    const child = spawnOwned(command, args, { cwd: dir, env, owner, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const keep = (chunk: Buffer) => {
      this.#output = `${this.#output}${chunk}`.slice(-4_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    await once(child, 'spawn');
    await waitFor(async () => !isRunning(child) || (await answers()), { what: `${name} to answer` });
    if (!isRunning(child)) throw new Error(`${name} ended at start: ${this.#output.trim()}`);
    return true;
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child === null || !isRunning(this.#child)) return;
    const children = childrenOf(this.pid);
    await endProcess(this.#child, signal);
    // PostgreSQL's outlive a killed parent for a moment, in which they still answer.
    await waitFor(() => children.every(hasEnded), { what: `the children of ${this.spec.name} to end` });
  }

  #signalAll(signal: NodeJS.Signals): void {
    for (const pid of [this.pid, ...childrenOf(this.pid)]) process.kill(pid, signal);
  }
}

function childrenOf(pid: number): number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return list === '' ? [] : list.split(' ').map(Number);
}

/** Whoever inherits it may take its time to ask how it ended. */
function hasEnded(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}
