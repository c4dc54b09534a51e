// `cardpoll demo`: everything on one machine. The launcher runs the product; this file shows the dashboard over it or, without a
// terminal, prints one status line every two seconds. Both read through the API like any client.
import { HOST_PORT, type HostPort, integer, text } from '../../config/kinds.ts';
import { countWords } from '../../domain/words.ts';
import { CardpollError } from '../../platform/errors.ts';
import { EXIT_OK } from '../../platform/exit-codes.ts';
import type { OverviewBody, TaskBody } from '../../resources/stats.ts';
import { abbreviated, digitsOf, inLocale, type Style, styleFor } from '../../terminal/style.ts';
import { openClient } from '../ask.ts';
import { type CommandContext, defineCommand, Interruption } from '../command.ts';
import { isOnTerminal, watch } from './dashboard.ts';

const STATUS_EVERY_MS = 2_000;
/** The daemon shares its thread with the screen, and is busy at the start. */
const ANSWER_WITHIN_MS = 10_000;
const LISTEN: HostPort = { host: '127.0.0.1', port: 7480 };

export const demo = defineCommand({
  name: 'demo',
  summary: 'Run a daemon with a simulated gateway and embedded stores',
  examples: [
    'cardpoll demo  # ten thousand cards, API on 127.0.0.1:7480',
    'cardpoll demo --cards 100000  # a larger fleet',
    'cardpoll demo --listen 127.0.0.1:8000  # on another port',
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
      kind: HOST_PORT,
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
    await watch(
      context,
      {
        url,
        timeoutMs: ANSWER_WITHIN_MS,
        context: null,
        token: null,
        tokenFrom: null,
        contextTokenFile: null,
      },
      signal,
    );
  } catch (error) {
    if (!(error instanceof Interruption)) throw error;
  }
}

async function printStatus({ io }: CommandContext, url: string, ended: AbortSignal): Promise<void> {
  const client = await openClient(
    io,
    { url, token: null, tokenFrom: null, timeoutMs: STATUS_EVERY_MS },
    ended,
  );
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

const WIDTH = 80;

/** Possible contents of a line. The first layout that fits is used. */
const LAYOUTS = [
  { cards: true, queue: true, success: true, gap: '  ' },
  { cards: false, queue: true, success: true, gap: '  ' },
  { cards: false, queue: true, success: true, gap: ' ' },
  { cards: false, queue: true, success: false, gap: ' ' },
  { cards: false, queue: false, success: false, gap: ' ' },
] as const;
type Layout = (typeof LAYOUTS)[number];

/**
 * The state of the fleet in one line of at most 80 columns:
 *   ● normal  10k cards  realname 165/s q12  carddata 12/s q0 97%  package 9/s q0
 * A task type has polls a second, queue length, and its success rate when that is below 100 %. If not all is normal, a second
 * line has the worst cause and the command to run.
 */
export function statusLine(overview: OverviewBody, style: Style): string {
  const health = style.health(overview.health);
  const lines = LAYOUTS.map((layout) => [health.text, ...facts(overview, layout)].join(layout.gap));
  const line = lines.find(({ length }) => length <= WIDTH) ?? lines.at(-1) ?? '';
  return `${style.paint(health.text, health.tone)}${line.slice(health.text.length)}\n${worstCause(overview, style)}`;
}

function worstCause({ health_reasons: [worst] }: OverviewBody, style: Style): string {
  if (worst === undefined) return '';
  const { text, command } = worst;
  return `  ${style.text(command === null ? text : `${text}: ${command}`).text}\n`;
}

function facts({ cards_total, init, tasks }: OverviewBody, layout: Layout): string[] {
  return [
    ...(layout.cards ? [countWords(cards_total, 'card', 'cards', short)] : []),
    ...(init.status === 'completed' ? [] : [initFact(init)]),
    ...tasks.map((task) => taskFacts(task, layout)),
  ];
}

function initFact({ status, percent }: OverviewBody['init']): string {
  return `init ${status === 'stuck' ? 'stuck at ' : ''}${Math.floor(percent)}%`;
}

function taskFacts({ task_type, queue_length, ...task }: TaskBody, layout: Layout) {
  const { rate_per_second_10s: rate_per_second, success_rate_10s: success_rate } = task;
  const digits = digitsOf(rate_per_second);
  const rate = digits === 0 ? short(rate_per_second) : rate_per_second.toFixed(digits);
  const queue = layout.queue ? ` q${short(queue_length)}` : '';
  // Rounded down, so that 99.9 is not shown as 100.
  const shown = layout.success && success_rate !== null && success_rate < 100;
  const success = shown ? ` ${Math.floor(success_rate)}%` : '';
  return `${task_type} ${rate}/s${queue}${success}`;
}

/** At most four characters: 999, 1.2k, 12k, 1.2M. */
function short(value: number): string {
  return value < 999.5 ? String(Math.round(value)) : abbreviated(value);
}
