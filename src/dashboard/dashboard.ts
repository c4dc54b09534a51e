// The dashboard: the screen for whoever is called at night. Opened by `cardpoll dashboard` and by the demo, which load it
// when they need it; nothing else knows it. session.ts is how it lives, model.ts what it knows, views/ how it looks.
import type { ReadStream, WriteStream } from 'node:tty';
import type { ApiClient } from '../api/client/client.ts';
import type { Clock } from '../platform/clock.ts';
import { Session } from './session.ts';
import { initialState } from './state.ts';
import { Terminal } from './terminal.ts';

interface DashboardOptions {
  readonly client: ApiClient;
  /** Whose fleet this is, as it is shown. */
  readonly daemon: string;
  readonly hasToken: boolean;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  readonly clock: Clock;
  /** Ends it; `run` then throws its reason. */
  readonly signal: AbortSignal;
}

/** Shows the dashboard until the operator ends it. The terminal is as before when this resolves or rejects. */
export async function runDashboard(options: DashboardOptions): Promise<'quit' | 'interrupted'> {
  const { client, daemon, hasToken, stdin, stdout, clock, signal } = options;
  const terminal = new Terminal(stdin, stdout);
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
