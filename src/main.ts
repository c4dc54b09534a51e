// The binary's entry (bin/cardpoll.js calls `main`): process -> command line -> exit code. With wiring.ts the only
// place that reads argv and the environment and sets the exit code; it never ends the process by force.
import { Interruption, type Io } from './cli/command.ts';
import type { Launchers } from './cli/launchers.ts';
import { systemClock } from './platform/clock.ts';
import { EXIT_IO, EXIT_OK, EXIT_SIGHUP, EXIT_SIGINT, EXIT_SIGTERM } from './platform/exit-codes.ts';
import { VERSION } from './platform/version.ts';
import { endByHangups, type Hangups } from './signals.ts';

/** The composition root imports every library of the daemon, so only commands that start something load it. */
const launchersFor = (hangups: Hangups): Launchers => ({
  daemon: async (config, load, listening) => {
    const { runDaemon } = await import('./wiring.ts');
    return runDaemon(config, { load, listening, hangups });
  },
  demo: async (options, launched) => {
    // The command exists for its status lines, so it shuts down gracefully when its reader or its terminal is gone.
    process.stdout.once('error', () => process.kill(process.pid, 'SIGTERM'));
    process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
    return (await import('./demo.ts')).runDemo(options, launched);
  },
  tryGateway: async (...args) => (await import('./gateway-commands.ts')).tryGateway(...args),
  simulate: async (options, listening) =>
    (await import('./gateway-commands.ts')).runSimulator(options, listening),
  doctor: async (config, daemonAnswers) => (await import('./doctor.ts')).runDoctor(config, daemonAnswers),
  adopt: async (config, goAhead) => (await import('./store-commands.ts')).runAdopt(config, goAhead),
  migrate: async (...args) => (await import('./store-commands.ts')).runMigrate(...args),
});

/** @param hangups SIGHUPs received by bin/cardpoll.js */
export async function main(hangups: Hangups): Promise<void> {
  // React chooses its build by the environment; the development build measures itself all the time.
  process.env.NODE_ENV ??= 'production';
  const argv = process.argv.slice(2);
  const outputEnded = watchOutput();
  // Scripts and package managers request the version, so it does not wait for the command line to load.
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    process.stdout.write(`cardpoll ${VERSION}\n`);
    return;
  }
  const { run } = await import('./cli/run.ts');
  // bin/cardpoll.js listens for SIGHUP if any word is `daemon`; the command is known only here.
  const exitCode = await run(argv, processIo(outputEnded), launchersFor(hangups), () =>
    endByHangups(hangups),
  );
  process.exitCode ??= exitCode;
}

/** Aborts when standard output fails. The failure is reported here, once, for every command. */
function watchOutput(): AbortSignal {
  const ended = new AbortController();
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (ended.signal.aborted) return;
    // `| head` closes the pipe when it has enough, which is not an error.
    const exitCode = error.code === 'EPIPE' ? EXIT_OK : EXIT_IO;
    ended.abort(new Interruption(exitCode));
    if (exitCode === EXIT_OK) return;
    // The command may not support interruption, or may have ended already.
    process.exitCode = exitCode;
    process.stderr.write(`cardpoll: standard output cannot be written: ${error.message}\n`);
  });
  // Without a listener a broken standard error would crash the process, and there is nowhere to report it.
  process.stderr.on('error', () => {});
  return ended.signal;
}

function processIo(outputEnded: AbortSignal): Io {
  let interrupted: AbortSignal | null = null;
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    clock: systemClock,
    onInterrupt: () => {
      interrupted ??= AbortSignal.any([
        outputEnded,
        signalled('SIGINT', EXIT_SIGINT),
        signalled('SIGTERM', EXIT_SIGTERM),
        signalled('SIGHUP', EXIT_SIGHUP),
      ]);
      return interrupted;
    },
  };
}

function signalled(signal: NodeJS.Signals, exitCode: number): AbortSignal {
  const controller = new AbortController();
  process.once(signal, () => controller.abort(new Interruption(exitCode)));
  return controller.signal;
}
