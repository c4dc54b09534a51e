// Runs several processes of one daemon as if they were one: ready when all are, restarted one by one, reloaded and shut
// down together. Built by src/supervise.ts, which knows how to start a process. It opens no store and polls no card, so
// that nothing keeps it from supervising.
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { Logger } from '../platform/logger.ts';
import {
  type Condition,
  type FromProcess,
  type Numbers,
  type Overseer,
  REPORT_EVERY_MS,
  type ToProcess,
} from './messages.ts';

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Checks (one per second) without a message: its event loop is blocked. Counted, so that a suspended machine does not matter. */
const MOST_SILENT_LOOKS = 20;
const FIRST_RESTART_MS = 1_000;
const LAST_RESTART_MS = 30_000;
/** Checks for which it must have been ready before the pause starts again from its minimum. */
const SETTLED_LOOKS = 60;

/**
 * One process: starts it, receives its messages, kills it when it is stuck, and restarts it with growing pauses when it exits
 * unexpectedly. The supervisor decides when.
 */
class SupervisedProcess {
  numbers: Numbers = [];
  #child: ChildProcess | null = null;
  #condition: Condition | null = null;
  #silentLooks = 0;
  #readyLooks = 0;
  #ends = 0;
  #killed = false;
  #restart: NodeJS.Timeout | undefined;
  #ending: Ending | null = null;
  /** Without a limit: SIGHUP may come any number of times during a reload. */
  readonly #events = new EventEmitter<{ changed: []; reloaded: [] }>().setMaxListeners(0);

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
    while (!this.ready) await once(this.#events, 'changed');
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
  async reload(): Promise<void> {
    if (this.#child === null) return;
    const reloaded = once(this.#events, 'reloaded');
    this.send({ kind: 'reload' });
    await reloaded;
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
    while (this.#child !== null) await once(this.#events, 'changed');
    return this.#ending;
  }

  #hear(message: FromProcess): void {
    if (message.kind === 'reloaded') {
      this.#events.emit('reloaded');
      return;
    }
    this.#silentLooks = 0;
    this.#condition = message.condition;
    this.numbers = message.numbers;
    this.#events.emit('changed');
  }

  #ended(ending: Ending): void {
    this.#child = null;
    this.#ending = ending;
    this.numbers = [];
    this.#events.emit('reloaded');
    this.#events.emit('changed');
    this.onEnd(this, ending);
  }
}

interface SupervisorDeps {
  readonly processes: number;
  /** Starts the process with this number. */
  readonly spawn: (number: number) => ChildProcess;
  readonly overseer: Overseer | null;
  /** Maximum duration of a shutdown, in milliseconds. */
  readonly endsWithinMs: number;
  /** Exit code for a process that was killed by a signal, or failed. */
  readonly brokenCode: number;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

export class Supervisor {
  readonly #all: readonly SupervisedProcess[];
  #phase: 'starting' | 'running' | 'ending' = 'starting';
  /** A process exited after all had been ready. */
  #incomplete = false;
  /** A process that exits before all were ready once ends all of them: as with one process, a start succeeds or fails. */
  #failStart: (ending: Ending) => void = () => {};

  constructor(private readonly deps: SupervisorDeps) {
    this.#all = Array.from(
      { length: deps.processes },
      (_, number) =>
        new SupervisedProcess(
          number,
          () => deps.spawn(number),
          deps.log,
          (process, ending) => this.#onEnd(process, ending),
        ),
    );
  }

  /** Runs the processes until `stop` resolves. @returns the exit code of the first process that failed, or 0. */
  async run(stop: Promise<unknown>): Promise<number> {
    const { overseer, endsWithinMs, log } = this.deps;
    const timer = setInterval(() => this.#look(), REPORT_EVERY_MS);
    const failure = new Promise<Ending>((resolve) => {
      this.#failStart = resolve;
    });
    overseer?.watch(() => this.#condition());
    const early = await Promise.race([failure, this.#start().then(() => null), stop.then(() => null)]);
    if (early === null) {
      await stop;
      overseer?.stopping(endsWithinMs);
    } else log.error({ ...early }, 'a process ended before all were ready, the others are ended too');
    this.#phase = 'ending';
    const endings = await Promise.all(this.#all.map((process) => process.stop()));
    clearInterval(timer);
    const codes = [early, ...endings]
      .filter((one) => one !== null)
      .map((one) => one.code ?? this.deps.brokenCode);
    return codes.find((code) => code !== 0) ?? 0;
  }

  /** Reloads the configuration of all. @param own reloads it for this process. */
  async reload(own: () => Promise<void>): Promise<void> {
    const work = async () => {
      await Promise.all([own(), ...this.#all.map((process) => process.reload())]);
    };
    await (this.deps.overseer === null ? work() : this.deps.overseer.reload(work));
  }

  /** Starts process 0 alone first: it migrates the database, and reports a wrong configuration once. */
  async #start(): Promise<void> {
    const [first, ...rest] = this.#all;
    first?.start();
    await first?.untilReady();
    if (this.#phase !== 'starting') return;
    for (const process of rest) process.start();
    await Promise.all(rest.map((process) => process.untilReady()));
    if (this.#phase !== 'starting') return;
    this.#phase = 'running';
    this.#reportReady();
  }

  #reportReady(): void {
    this.#incomplete = false;
    this.deps.log.info({ processes: this.#all.length }, 'all processes are ready');
  }

  #onEnd(process: SupervisedProcess, ending: Ending): void {
    if (this.#phase === 'starting') this.#failStart(ending);
    if (this.#phase !== 'running') return;
    this.#incomplete = true;
    const restartInMs = process.restartLater();
    this.deps.log.error(
      { process: process.number, ...ending, restart_in_ms: restartInMs },
      'a process ended unasked and is started again',
    );
  }

  #look(): void {
    for (const process of this.#all) process.look();
    if (this.#incomplete && this.#phase === 'running' && this.#all.every(({ ready }) => ready))
      this.#reportReady();
    const [first, ...rest] = this.#all;
    first?.send({
      kind: 'others',
      problems: rest.flatMap(({ problems }) => problems),
      numbers: rest.map(({ numbers }) => numbers),
    });
  }

  #condition(): Condition {
    const problems = this.#all.flatMap((process) => process.problems);
    const stuck = this.#all.filter(({ beyondHelp }) => beyondHelp).map(({ number }) => `process ${number}`);
    const ready = this.#all.filter((process) => process.ready).length;
    return {
      problems,
      stuck,
      status: [`${ready} of ${this.#all.length} processes work`, ...problems].join('; '),
    };
  }
}
