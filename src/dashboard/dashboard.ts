// The dashboard, the screen for an operator on call, live or once. Loaded on demand by `cardpoll dashboard` and the demo.
// session.ts runs the live one, model.ts has its rules, views/ its contents.
import type { ReadStream, WriteStream } from 'node:tty';
import type { ApiClient } from '../api/client/client.ts';
import { messageOf } from '../platform/errors.ts';
import { reduce } from './model.ts';
import { Session, type SessionDependencies } from './session.ts';
import { readSource } from './snapshot-feed.ts';
import { initialState } from './state.ts';
import { Terminal } from './terminal.ts';
import { renderStill } from './views/frame.tsx';

interface DashboardOptions extends Omit<SessionDependencies, 'terminal'> {
  /** The name of the daemon, as the header shows it. */
  readonly daemon: string;
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  /** Converts a text to the characters of the terminal's locale, in as many columns. */
  readonly inLocale: (text: string) => string;
  /** Ends the dashboard, which then throws the signal's reason. */
  readonly signal: AbortSignal;
}

/** Shows the dashboard until the operator quits. The terminal is restored before this resolves or rejects. */
export function runDashboard(options: DashboardOptions): Promise<'quit' | 'interrupted'> {
  const { daemon, stdin, stdout, inLocale, signal, ...deps } = options;
  const terminal = new Terminal(stdin, stdout, inLocale);
  const initial = initialState({ daemon, ...terminal.size, nowMs: deps.clock.monotonic() });
  return new Session(initial, { ...deps, terminal }).run(signal);
}

/**
 * Reads each source of the overview one time. Throws CardpollError when the daemon does not answer with an overview.
 * @returns the output of `--once`: the overview as text, and its data. A part is null if the daemon did not answer it; `problems`
 * has the reasons.
 */
export async function readOnce(client: ApiClient, given: Parameters<typeof initialState>[0]) {
  const problems: string[] = [];
  const atMs = given.nowMs;
  const parts = (['history', 'firing', 'cleanup'] as const).map((source) => readSource(client, source));
  const [first, rest] = await Promise.all([readSource(client, 'overview'), Promise.allSettled(parts)]);
  let state = reduce(initialState(given), { type: 'received', reading: first, atMs });
  for (const one of rest) {
    if (one.status === 'fulfilled') state = reduce(state, { type: 'received', reading: one.value, atMs });
    else problems.push(messageOf(one.reason));
  }
  const { overview, history, firing, cleanup } = state.data;
  const bodies = { history: history.body, firing: firing.body, cleanup: cleanup.body };
  return { state, data: { overview: overview.body, ...bodies, problems } };
}

export function onceText({ state, data }: Awaited<ReturnType<typeof readOnce>>): string {
  const lines = [...renderStill(state), ...data.problems.map((problem) => `not known: ${problem}`)];
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}
