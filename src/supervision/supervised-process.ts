// One process of a supervisor: starts it, receives its messages, kills it when it is stuck, and restarts it with growing
// pauses when it exits unexpectedly. supervisor.ts decides when.
import type { ChildProcess } from 'node:child_process';
import type { Logger } from '../platform/logger.ts';
import type { Condition, FromProcess, Numbers, ToProcess } from './messages.ts';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Checks (one per second) without a message: its event loop is blocked. Counted, so that a suspended machine does not matter. */
const MOST_SILENT_LOOKS = 20;
const FIRST_RESTART_MS = 1_000;
const LAST_RESTART_MS = 30_000;
/** Checks for which it must have been ready before the pause starts again from its minimum. */
const SETTLED_LOOKS = 60;

export class SupervisedProcess {
  numbers: Numbers = [];
  #child: ChildProcess | null = null;
  #condition: Condition | null = null;
  #silentLooks = 0;
  #readyLooks = 0;
  #ends = 0;
  #killed = false;
  #restart: NodeJS.Timeout | undefined;
  #ending: Ending | null = null;
  #waiting: Array<() => void> = [];
  #reloads: Array<() => void> = [];

  constructor(
    readonly number: number,
    private readonly spawn: () => ChildProcess,
    private readonly log: Pick<Logger, 'error'>,
    /** Called on every exit. */
    private readonly onEnd: (process: SupervisedProcess, ending: Ending) => void,
  ) {}

  get ready(): boolean {
    return this.#child !== null && this.#condition?.problems.length === 0;
  }

  /** Why it is not ready, one sentence each. */
  get problems(): string[] {
    const own =
      this.#child === null ? ['ended, is started again'] : (this.#condition?.problems ?? ['starting']);
    return own.map((problem) => `process ${this.number}: ${problem}`);
  }

  /** It was killed and does not exit: only the service manager can help. */
  get beyondHelp(): boolean {
    return this.#killed && this.#silentLooks > 2 * MOST_SILENT_LOOKS;
  }

  start(): void {
    const child = this.spawn();
    this.#child = child;
    this.#ending = null;
    this.#condition = null;
    this.#silentLooks = 0;
    this.#killed = false;
    child.on('message', (message: FromProcess) => this.#hear(message));
    child.once('exit', (code, signal) => this.#ended({ code, signal }));
    child.once('error', () => {
      if (child.pid === undefined) this.#ended({ code: null, signal: null });
    });
  }

  async untilReady(): Promise<void> {
    while (!this.ready) await this.#change();
  }

  /** Called once a second. */
  look(): void {
    if (this.#child === null) return;
    this.#silentLooks += 1;
    if (this.ready) this.#readyLooks += 1;
    const stuck = this.#condition?.stuck ?? [];
    if (this.#killed || (stuck.length === 0 && this.#silentLooks <= MOST_SILENT_LOOKS)) return;
    this.#killed = true;
    const why = stuck.length > 0 ? stuck : ['not a word from it'];
    this.log.error({ process: this.number, pid: this.#child.pid, stuck: why }, 'stuck process killed');
    this.#child.kill('SIGKILL');
  }

  send(message: ToProcess): void {
    if (this.#child?.connected === true) this.#child.send(message, () => {});
  }

  /** Resolves when it has reloaded its configuration, or exited. */
  reload(): Promise<void> {
    if (this.#child === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#reloads.push(resolve);
      this.send({ kind: 'reload' });
    });
  }

  /** Restarts it after a pause, which doubles while it does not stay up. @returns the pause, in milliseconds. */
  restartLater(): number {
    if (this.#readyLooks >= SETTLED_LOOKS) this.#ends = 0;
    this.#readyLooks = 0;
    const pauseMs = Math.min(LAST_RESTART_MS, FIRST_RESTART_MS * 2 ** this.#ends);
    this.#ends += 1;
    this.#restart = setTimeout(() => this.start(), pauseMs);
    return pauseMs;
  }

  /** Shuts it down gracefully. @returns how it exited, now or before; null when it was never started. */
  async stop(): Promise<Ending | null> {
    clearTimeout(this.#restart);
    this.send({ kind: 'stop' });
    while (this.#child !== null) await this.#change();
    return this.#ending;
  }

  #hear(message: FromProcess): void {
    if (message.kind === 'reloaded') {
      for (const resolve of this.#reloads.splice(0)) resolve();
      return;
    }
    this.#silentLooks = 0;
    this.#condition = message.condition;
    this.numbers = message.numbers;
    this.#changed();
  }

  #ended(ending: Ending): void {
    this.#child = null;
    this.#ending = ending;
    this.numbers = [];
    for (const resolve of this.#reloads.splice(0)) resolve();
    this.#changed();
    this.onEnd(this, ending);
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
