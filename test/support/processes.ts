// Drives the built binary (bin/cardpoll.js) as an operator does. What a test file leaves running is ended with it (after-each-file.ts).
// The binary is built before the tests run (npm test does); nothing here builds it.
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { outerEnvironment } from './outer-environment.ts';
import { endProcess, isRunning, spawnOwned } from './owned-process.ts';
import { waitFor } from './wait-for.ts';

export { waitFor } from './wait-for.ts';

export interface CliOptions {
  /** On top of the test's own environment without its CARDPOLL_* variables; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** What is run; default: the binary of this repository. */
  readonly program?: readonly [string, ...string[]];
  /** Standard input; empty without it. */
  readonly input?: string;
  /** After this the process gets SIGKILL and the call rejects. Default 60,000. */
  readonly timeoutMs?: number;
}

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const BINARY = fileURLToPath(new URL('../../bin/cardpoll.js', import.meta.url));

/** Runs one command to its end. A non-zero exit code is a result, not an error. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { input = '', timeoutMs = 180_000 } = options;
  const child = spawnBinary(args, options);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGKILL');
  }, timeoutMs);
  child.stdin.on('error', () => {}); // the command may end without reading its input
  child.stdin.end(input);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  clearTimeout(timer);
  if (timedOut)
    throw new Error(`cardpoll ${args.join(' ')} ran longer than ${timeoutMs} ms: ${stderr || stdout}`);
  return { code, signal, stdout, stderr };
}

/** A command that keeps running: the daemon, the simulator, a --watch. */
export class RunningCli {
  /** Everything written so far. */
  stdout = '';
  stderr = '';

  constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    private readonly commandLine: string,
  ) {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      this.stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      this.stderr += chunk;
    });
    child.stdin.on('error', () => {});
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`${this.commandLine} was not started`);
    return this.child.pid;
  }

  get running(): boolean {
    return isRunning(this.child);
  }

  /** Resolves with the first line, of either stream, that matches; rejects when the process ends without one. */
  async waitForLine(pattern: RegExp): Promise<string> {
    const found = await waitFor(() => this.#line(pattern) ?? !this.running, {
      what: `${this.commandLine} to print ${pattern}`,
    }).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.#output()}`);
    });
    const line = typeof found === 'string' ? found : this.#line(pattern);
    if (line === null)
      throw new Error(`${this.commandLine} ended without printing ${pattern}\n${this.#output()}`);
    return line;
  }

  /** As a reader of its output that goes away. */
  closeOutput(): void {
    this.child.stdout.destroy();
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends the signal (SIGTERM) and resolves when the process has ended and its output is complete. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<CliResult> {
    await endProcess(this.child, signal);
    return this.ended();
  }

  /** Resolves when the process ends on its own. */
  async ended(): Promise<CliResult> {
    if (this.running || !this.#streamsClosed()) await once(this.child, 'close');
    const { exitCode, signalCode } = this.child;
    return { code: exitCode, signal: signalCode, stdout: this.stdout, stderr: this.stderr };
  }

  #streamsClosed(): boolean {
    return this.child.stdout.closed && this.child.stderr.closed;
  }

  #line(pattern: RegExp): string | null {
    const lines = `${this.stdout}\n${this.stderr}`.split('\n');
    return lines.find((line) => pattern.test(line)) ?? null;
  }

  #output(): string {
    return `stdout: ${this.stdout.slice(-2_000)}\nstderr: ${this.stderr.slice(-2_000)}`;
  }
}

export function spawnCli(
  args: readonly string[],
  options: Omit<CliOptions, 'input' | 'timeoutMs'> = {},
): RunningCli {
  return new RunningCli(spawnBinary(args, options), `cardpoll ${args.join(' ')}`);
}

function spawnBinary(
  args: readonly string[],
  { env = {}, cwd, program = [process.execPath, BINARY] }: CliOptions,
): ChildProcessWithoutNullStreams {
  const [command, ...words] = program;
  const child: ChildProcess = spawnOwned(command, [...words, ...args], {
    env: { ...outerEnvironment(), ...env },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  return child as ChildProcessWithoutNullStreams; // all three are pipes
}
