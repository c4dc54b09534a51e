// `cardpoll dashboard`, also `cardpoll top`: the screen for an operator on call. Loads the screen on demand.
import type { ReadStream, WriteStream } from 'node:tty';
import type { ClientConfig } from '../../config/load-config.ts';
import { CardpollError } from '../../platform/errors.ts';
import { EXIT_OK, EXIT_SIGHUP, EXIT_SIGINT } from '../../platform/exit-codes.ts';
import { inLocale, styleFor, USUAL_SIZE } from '../../terminal/style.ts';
import { openClient } from '../ask.ts';
import { type CommandContext, type CommandSpec, defineCommand, Interruption, type Io } from '../command.ts';
import { ownAnswer, printAnswer } from '../output/print.ts';

export const dashboard: CommandSpec = defineCommand({
  name: 'dashboard',
  summary: 'Watch and control the fleet on one screen',
  examples: [
    'cardpoll dashboard  # the fleet, live; ? shows the keys',
    'cardpoll dashboard --once  # the first screen as text, also in a pipe',
    'cardpoll dashboard --once -o json  # its data',
  ],
  options: [{ flags: '--once', doc: 'print the screen once and exit' }],
  run: (context, { options }) => (options.once === true ? once(context) : live(context)),
});

export const top: CommandSpec = { ...dashboard, name: 'top', hidden: true };

async function once(context: CommandContext): Promise<number> {
  const { io } = context;
  const { onceText, readOnce } = await import('../../dashboard/dashboard.ts');
  const config = await context.clientConfig();
  const shown = await readOnce(await context.client(), {
    daemon: nameOf(config),
    ...sizeOf(context),
    nowMs: io.clock.monotonic(),
  });
  await styleFor(io); // it decides whether there are colours, and loads the widths of characters
  return printAnswer(context, ownAnswer(shown.data), () => onceText(shown));
}

/** The size of the terminal; COLUMNS and LINES may describe a file or a pipe. */
function sizeOf({ io }: CommandContext): { readonly columns: number; readonly rows: number } {
  const { columns, rows } = io.stdout as Partial<WriteStream>;
  return {
    columns: columns || sizeIn(io.env.COLUMNS) || USUAL_SIZE.columns,
    rows: rows || sizeIn(io.env.LINES) || USUAL_SIZE.rows,
  };
}

function sizeIn(value: string | undefined): number {
  return /^\d{1,4}$/.test(value ?? '') ? Number(value) : 0;
}

async function live(context: CommandContext): Promise<number> {
  const { io, format } = context;
  if (format !== 'table') throw new CardpollError('usage', 'once_missing', `-o ${format} needs --once`);
  if (!isOnTerminal(io)) {
    throw new CardpollError('usage', 'no_terminal', 'the dashboard needs a terminal whose cursor moves', {
      hint: 'print it with `cardpoll dashboard --once`',
    });
  }
  return watch(context, await context.clientConfig(), io.onInterrupt());
}

/** Names the daemon: with several contexts the operator may mean another one. */
function nameOf({ context, url }: ClientConfig): string {
  return context === null ? url : `${context} (${url})`;
}

/** Whether input and output are terminals whose cursor moves: an interactive screen needs that. */
export function isOnTerminal({ stdin, stdout, env }: Io): boolean {
  return stdin.isTTY === true && stdout.isTTY === true && env.TERM !== 'dumb';
}

/**
 * Shows the dashboard on this command's terminal until the operator ends it. Throws the signal's reason.
 * @returns the exit code.
 */
export async function watch(
  { io }: CommandContext,
  config: ClientConfig,
  signal: AbortSignal,
): Promise<number> {
  const [{ runDashboard }] = await Promise.all([
    import('../../dashboard/dashboard.ts'),
    styleFor(io), // as above
  ]);
  const ended = new AbortController();
  const hungUp = () => ended.abort(new Interruption(EXIT_SIGHUP));
  process.on('SIGHUP', hungUp);
  const either = AbortSignal.any([signal, ended.signal]);
  try {
    const how = await runDashboard({
      client: await openClient(io, config, either),
      daemon: nameOf(config),
      hasToken: config.token !== null,
      stdin: io.stdin as ReadStream,
      stdout: io.stdout as WriteStream,
      inLocale: (text) => inLocale(text, io),
      clock: io.clock,
      signal: either,
    });
    return how === 'quit' ? EXIT_OK : EXIT_SIGINT;
  } finally {
    process.off('SIGHUP', hungUp);
    // Ends requests in flight: their answers are useless now, and would keep the process alive.
    ended.abort();
  }
}
