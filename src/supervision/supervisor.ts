// Runs several processes of one daemon as if they were one: ready when all are, restarted one by one, reloaded and shut
// down together. Built by src/supervise.ts, which knows how to start a process. It opens no store and polls no card, so
// that nothing keeps it from supervising.
import type { ChildProcess } from 'node:child_process';
import type { Logger } from '../platform/logger.ts';
import { type Condition, type Overseer, REPORT_EVERY_MS } from './messages.ts';
import { type Ending, SupervisedProcess } from './supervised-process.ts';

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
