// The dashboard, the screen for an operator on call. `cardpoll dashboard` and the demo open it, and load it only then.
// session.ts runs it, model.ts holds its rules, views/ has what it shows.
import type { ReadStream, WriteStream } from 'node:tty';
import type { ApiClient } from '../api/client/client.ts';
import type { Clock } from '../platform/clock.ts';
import { Session } from './session.ts';
import { initialState } from './state.ts';
import { Terminal } from './terminal.ts';

interface DashboardOptions {
  readonly client: ApiClient;
  /** The name of the daemon, as the header shows it. */
  readonly daemon: string;
  readonly hasToken: boolean;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  /** What the locale of the terminal shows of a text, in as many columns. */
  readonly inLocale: (text: string) => string;
  readonly clock: Clock;
  /** Ends the dashboard, which then throws the signal's reason. */
  readonly signal: AbortSignal;
}

/** Shows the dashboard until the operator quits. The terminal is restored before this resolves or rejects. */
export async function runDashboard(options: DashboardOptions): Promise<'quit' | 'interrupted'> {
  const { client, daemon, hasToken, stdin, stdout, inLocale, clock, signal } = options;
  const terminal = new Terminal(stdin, stdout, inLocale);
  const initial = initialState({ daemon, ...terminal.size, nowMs: clock.monotonic() });
  const session = new Session(initial, { client, clock, terminal, hasToken });
  const resized = () => session.resized();
  const continued = () => {
    terminal.reopen();
    session.resized();
  };
  stdout.on('resize', resized);
  process.on('SIGCONT', continued);
  try {
    return await session.run(signal);
  } finally {
    stdout.off('resize', resized);
    process.off('SIGCONT', continued);
  }
}
