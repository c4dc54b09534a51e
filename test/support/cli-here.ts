// The command line in this process, with all that it needs of the product: for tests that are not about a process. A start of the
// binary costs half a second of computing, and two where it loads the stores. Daemon, demo and simulator are always processes.
import { Readable, Writable } from 'node:stream';
import type { Launchers } from '../../src/cli/launchers.ts';
import { run } from '../../src/cli/run.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { outerEnvironment } from './outer-environment.ts';

export interface HereResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

class Collected extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

const onlyAsProcess = () => Promise.reject(new Error('start it by spawnCli'));

const LAUNCHERS: Launchers = {
  daemon: onlyAsProcess,
  demo: onlyAsProcess,
  simulate: onlyAsProcess,
  tryGateway: async (...args) => (await import('../../src/gateway-commands.ts')).tryGateway(...args),
  doctor: async (...args) => (await import('../../src/doctor.ts')).runDoctor(...args),
  adopt: async (...args) => (await import('../../src/store-commands.ts')).runAdopt(...args),
  migrate: async (...args) => (await import('../../src/store-commands.ts')).runMigrate(...args),
};

interface HereOptions {
  /** On top of the test's own without its CARDPOLL_* variables. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What is typed. Makes all three streams terminals of 80 columns, without a cursor. */
  readonly typed?: string;
}

/** Runs one command to its end. */
export async function cliHere(
  args: readonly string[],
  { env = {}, typed }: HereOptions = {},
): Promise<HereResult> {
  // Without a terminal no width is known, and no line is broken.
  const terminal = typed === undefined ? { isTTY: false } : { isTTY: true, columns: 80 };
  const [stdout, stderr] = [new Collected(), new Collected()];
  const io = {
    stdin: Object.assign(Readable.from([typed ?? '']), terminal),
    stdout: Object.assign(stdout, terminal),
    stderr: Object.assign(stderr, terminal),
    env: { ...outerEnvironment(), TERM: 'dumb', ...env },
    clock: systemClock,
    onInterrupt: () => new AbortController().signal,
  };
  const code = await run(args, io, LAUNCHERS, () => {});
  return { code, stdout: stdout.text, stderr: stderr.text };
}
