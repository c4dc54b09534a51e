// `cardpoll logs`: searches log files for a card. A thin layer over src/log-search, which is loaded when the command runs. Needs
// no daemon.
import { integer, oneOf, text } from '../../config/kinds.ts';
import { type LogsConfig, loadLogsConfig } from '../../config/load-config.ts';
import { INTERFACE_ALIASES } from '../../domain/gateway-interface.ts';
import { LOG_FORMATS, type Progress, type SearchOptions } from '../../log-search/model.ts';
import { CardpollError } from '../../platform/errors.ts';
import {
  type CommandContext,
  type CommandSpec,
  defineCommand,
  type OptionSpec,
  type OptionsOf,
} from '../command.ts';
import { writeAll } from '../output/print.ts';
import { ProgressBar } from '../output/progress-bar.ts';

const OPTIONS = [
  { flags: '--iccid <digits>', doc: 'iccid to search for, or up to 18 digits of it', kind: text('digits') },
  {
    flags: '--roots <A:B>',
    doc: 'log directories (default: the configured log directory)',
    kind: text('path'),
  },
  {
    flags: '--tz <zone>',
    doc: 'time zone of dates and of times without an offset (default: the configured time_zone, or the zone of the process)',
    kind: text('zone'),
  },
  { flags: '--date <day>', doc: 'day to search: 2026-02-01, today or yesterday', kind: text('day') },
  {
    flags: '--since <time>',
    doc: 'start of the range: 2h (two hours ago), 02:00, today, yesterday, or a time',
    kind: text('time'),
  },
  { flags: '--until <time>', doc: 'end of the range, exclusive', kind: text('time') },
  { flags: '--interface <alias>', doc: INTERFACE_ALIASES.join(', '), kind: oneOf(INTERFACE_ALIASES) },
  { flags: '--strict', doc: 'recognise the interface by the request path only' },
  { flags: '--count-only', doc: 'print only the number of hits' },
  {
    flags: '--samples <n>',
    doc: 'number of hits to show (default: 5)',
    kind: integer({ min: 0, max: 10_000 }),
  },
  { flags: '--all', doc: 'print every hit, in time order across files' },
  { flags: '--trace', doc: 'print the other lines of the same requests too' },
  { flags: '--no-prune', doc: 'search every file completely, whatever times it covers' },
  { flags: '-v, --verbose', doc: 'say on standard error how gzip files are inflated' },
] as const satisfies readonly OptionSpec[];

/** An earlier version kept an index of the cards in each file. */
const NO_INDEX =
  'searches use no index: leave it out; --date, --since and --until skip the files of other times';

type LogsOptions = OptionsOf<typeof OPTIONS>;

export const logs: CommandSpec = defineCommand({
  name: 'logs',
  summary:
    'Search plain and gzip logs for a card; exit code 0: hits, 1: none, 2: a file or a time could not be read',
  examples: [
    'cardpoll logs --roots /var/log/cardpoll --iccid 8986001234567890123  # summary, files and samples',
    'cardpoll logs --iccid 8986001234567890123 --date 2026-02-01 --interface realname  # one day, one interface',
    'cardpoll logs --iccid 8986001234567890123 --since 02:00 --all  # every line since two, in time order',
    'cardpoll logs --iccid 8986001234567890123 --since 2h --trace  # with the other lines of its requests',
  ],
  options: OPTIONS,
  formats: LOG_FORMATS,
  gone: {
    index: NO_INDEX,
    '--no-index': NO_INDEX,
    '--cache-dir': NO_INDEX,
    '--inflate': 'leave it out: the fastest library that works here is taken, and cardpoll logs -v names it',
    '--threads':
      'leave it out for one thread per processor; for fewer, start it with taskset: taskset -c 0,1 cardpoll logs',
  },
  run: async (context, { options }) => {
    const [{ searchLogs }, { printAside, printReport }, { exitCodeOf }, { inflateWords }] = await Promise.all(
      [
        import('../../log-search/search.ts'),
        import('../../log-search/report/print-report.ts'),
        import('../../log-search/report/report.ts'),
        import('../../log-search/read/gzip/inflaters.ts'),
      ],
    );
    const hasTimes = [options.date, options.since, options.until].some((time) => time !== undefined);
    const search = searchOptions(options, await configFor(context, options, hasTimes));
    const report = await withProgress(context, (watch) => searchLogs({ ...search, ...watch }));
    try {
      const format = LOG_FORMATS.find((one) => one === context.format) ?? 'text';
      const print = { format, all: options.all ?? false, isShown: context.io.stdout.isTTY === true };
      await writeAll(context.io, printReport(report, print));
      const aside = printAside(report, print);
      if (aside !== null) context.io.stderr.write(aside);
      if (options.verbose === true) context.io.stderr.write(`${inflateWords()}\n`);
      return exitCodeOf(report);
    } finally {
      report.close();
    }
  },
});

/** Reads the configuration only if necessary: a broken file does not prevent a search with --roots for all times. */
async function configFor(
  { configInputs }: CommandContext,
  { roots, tz, interface: alias }: Partial<LogsOptions>,
  needsZone: boolean,
): Promise<LogsConfig> {
  if (roots !== undefined && alias === undefined && (tz !== undefined || !needsZone))
    return { logDir: null, timeZone: null, interfaces: {} };
  return loadLogsConfig(configInputs);
}

function searchOptions(options: LogsOptions, config: LogsConfig): SearchOptions {
  const { iccid, ...rest } = options;
  if (iccid === undefined) {
    throw new CardpollError('usage', 'iccid_missing', 'no card given: --iccid is missing', {
      hint: 'add --iccid 8986001234567890123, or up to 18 digits of it',
    });
  }
  return {
    ...rest,
    tz: zoneOf(options, config),
    roots: rootsOf(options, config),
    iccid,
    ownSigns: config.interfaces,
  };
}

function rootsOf({ roots }: Partial<LogsOptions>, { logDir }: LogsConfig): readonly string[] {
  const given = roots?.split(':') ?? [logDir ?? ''];
  const named = given.filter((root) => root !== '');
  if (named.length > 0) return named;
  const why = roots === undefined ? '--roots is missing and none is configured' : '--roots names none';
  throw new CardpollError('usage', 'roots_missing', `no log directory: ${why}`, {
    hint: 'add --roots /var/log/cardpoll, or set log_dir',
  });
}

function zoneOf({ tz }: Partial<LogsOptions>, { timeZone }: LogsConfig): string | undefined {
  return tz ?? timeZone ?? undefined;
}

interface Watch {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

async function withProgress<T>({ io }: CommandContext, work: (watch: Watch) => Promise<T>) {
  const signal = io.onInterrupt();
  if (io.stderr.isTTY !== true) return work({ signal });
  const bar = new ProgressBar(io, 'searching');
  const onProgress = ({ doneBytes, totalBytes }: Progress) => {
    bar.total ??= totalBytes;
    bar.update(doneBytes);
  };
  return work({ signal, onProgress }).finally(() => bar.clear());
}
