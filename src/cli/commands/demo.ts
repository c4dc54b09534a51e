// `cardpoll demo`: everything on one machine. The launcher runs the product; this shows the dashboard over it, or where
// there is no terminal prints one status line every two seconds. Both read through the API like any client.
import { type HostPort, hostPort, integer, text } from '../../config/kinds.ts';
import { CardpollError } from '../../platform/errors.ts';
import { type CommandContext, defineCommand, Interruption } from '../command.ts';
import { EXIT_OK } from '../exit-codes.ts';
import { statusLine } from '../output/status-line.ts';
import { inLocale, styleFor } from '../output/style.ts';
import { isOnTerminal, watch } from './dashboard.ts';

const STATUS_EVERY_MS = 2_000;
/** The daemon shares its thread with the screen, and begins with a lot of work. */
const ANSWER_WITHIN_MS = 10_000;
const LISTEN: HostPort = { host: '127.0.0.1', port: 7480 };

interface Options {
  readonly cards: number;
  readonly listen: HostPort;
  readonly dataDir: string;
}

export const demo = defineCommand<[], Options>({
  name: 'demo',
  summary: 'Run a daemon with a simulated gateway and embedded stores',
  examples: [
    ['cardpoll demo', 'ten thousand cards, API on 127.0.0.1:7480'],
    ['cardpoll demo --cards 100000', 'a larger fleet'],
    ['cardpoll demo --listen 127.0.0.1:8000', 'on another port'],
  ],
  options: [
    {
      flags: '--cards <n>',
      doc: 'number of cards in the fleet (default: 10000)',
      kind: integer({ min: 1, max: 1_000_000 }),
    },
    {
      flags: '--listen <host:port>',
      doc: 'address of the admin API (default: 127.0.0.1:7480)',
      kind: hostPort(),
    },
    {
      flags: '--data-dir <dir>',
      doc: 'directory that keeps the data (default: nothing is kept)',
      kind: text('path'),
    },
  ],
  run: async (context, { options }) => {
    const { cards = 10_000, listen = LISTEN, dataDir = ':memory:' } = options;
    context.io.stderr.write(
      `cardpoll demo: ${cards} cards and a simulated gateway.\nIts embedded stores are for trials only.\n`,
    );
    const ended = new AbortController();
    const stop = new AbortController();
    let shown = Promise.resolve();
    const launched = (url: string, logDir: string) => {
      context.io.stderr.write(`API on ${url}, logs in ${logDir}; Ctrl-C stops it.\n`);
      shown = isOnTerminal(context.io)
        ? showDashboard(context, url, ended.signal).finally(() => stop.abort())
        : printStatus(context, url, ended.signal);
    };
    try {
      return await context.launchers.demo({ cards, listen, dataDir, stop: stop.signal }, launched);
    } finally {
      ended.abort(new Interruption(EXIT_OK));
      await shown;
    }
  },
});

/** Until the operator ends it, or the demo ends. */
async function showDashboard(context: CommandContext, url: string, ended: AbortSignal): Promise<void> {
  const signal = AbortSignal.any([context.io.onInterrupt(), ended]);
  try {
    await watch(context, { url, context: null, token: null, timeoutMs: ANSWER_WITHIN_MS }, signal);
  } catch (error) {
    if (!(error instanceof Interruption)) throw error;
  }
}

async function printStatus({ io }: CommandContext, url: string, ended: AbortSignal): Promise<void> {
  const { ApiClient } = await import('../../api/client/client.ts');
  const client = new ApiClient({
    url,
    token: null,
    timeoutMs: STATUS_EVERY_MS,
    signal: ended,
    clock: io.clock,
  });
  const rest = () => io.clock.sleep(STATUS_EVERY_MS, ended);
  for (; !ended.aborted; await rest()) {
    try {
      const { body } = await client.overview();
      io.stdout.write(inLocale(statusLine(body, await styleFor(io)), io));
    } catch (error) {
      // The API ends before the launcher does.
      if (!ended.aborted && !(error instanceof CardpollError && error.kind === 'unavailable')) throw error;
    }
  }
}
