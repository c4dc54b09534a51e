// The daemon's logs: one JSON object per line with `level` as a word, `time` (RFC 3339 with offset), the fields, `msg`. Opened
// once by wiring; all other code receives a Logger. Callers must not log secrets (admin tokens, gateway secrets): they are not
// filtered here. logrotate rotates; reopen() follows.
import { join } from 'node:path';
import { type Level, type Logger, pino } from 'pino';
import { makeDirectory } from './directory.ts';
import { CardpollError, messageOf } from './errors.ts';
import { LineFile } from './line-file.ts';

export type { Logger } from 'pino';

interface LogOptions {
  /** Directory of worker.log, api.log and access.log, created when missing; null: all lines go to standard output. */
  readonly dir: string | null;
  readonly level: Level;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** Called when writing fails, and when it works again. Default: one line on standard error. */
  readonly onProblem?: (message: string) => void;
}

export interface Logs {
  readonly worker: Logger;
  readonly api: Logger;
  readonly access: Logger;
  /** Writes to the api log at any level. */
  readonly audit: Pick<Logger, 'info'>;
  /** Reopens the files, on SIGHUP after a rotation; no line is lost or written twice. */
  reopen(): void;
  /** Changes the lowest level that is logged. */
  setLevel(level: Level): void;
  /** Number of lines dropped since the start. */
  readonly droppedLines: number;
  /** A file with delayed or dropped lines, and why; null while all lines are written. */
  readonly trouble: string | null;
  /** Writes the buffered lines and closes the files; later lines are dropped. */
  close(): Promise<void>;
}

const STDOUT = 1;

/**
 * Opens the logs.
 * @throws CardpollError `config` / `log_dir_unusable` when the directory or a file in it cannot be written.
 */
export function openLogs(options: LogOptions): Logs {
  const { dir, level, now = Date.now, onProblem = writeToStderr } = options;
  const files: LineFile[] = [];
  // A child logger keeps the level of its creation, so setLevel changes long-lived ones (one per interface) as well.
  const loggers: Logger[] = [];
  const formatTime = logTimeFormatter();
  const loggerTo = (file: LineFile, least: Level) =>
    pino(
      {
        level: least,
        base: null,
        onChild: (child) => loggers.push(child),
        formatters: { level: (label) => ({ level: label }) },
        timestamp: () => `,"time":"${formatTime(now())}"`,
      },
      file,
    );
  const open = (target: string | number): Opened => {
    const onRecovered = (dropped: number, reason: string) =>
      logger.warn({ dropped, reason }, 'log lines dropped');
    const file = new LineFile({ target, onProblem, onRecovered });
    const logger = loggerTo(file, level);
    files.push(file);
    loggers.push(logger);
    return { logger, always: loggerTo(file, 'info') };
  };
  return {
    setLevel: (lowest) => {
      for (const logger of loggers) logger.level = lowest;
    },
    get droppedLines() {
      return files.reduce((sum, file) => sum + file.dropped, 0);
    },
    get trouble() {
      return files.find(({ trouble }) => trouble !== null)?.trouble ?? null;
    },
    ...(dir === null ? sharedLogger(open(STDOUT)) : openDirectory(dir, open)),
    reopen: () => {
      for (const file of files) file.reopen();
    },
    close: async () => {
      await Promise.all(files.map((file) => file.close()));
    },
  };
}

type Loggers = Pick<Logs, 'worker' | 'api' | 'access' | 'audit'>;
type Opened = { readonly logger: Logger; readonly always: Logger };

function sharedLogger({ logger, always }: Opened): Loggers {
  return { worker: logger, api: logger, access: logger, audit: always };
}

function openDirectory(dir: string, open: (path: string) => Opened): Loggers {
  try {
    makeDirectory(dir, { mode: 0o750 });
    const openIn = (name: string) => open(join(dir, name));
    const [worker, api, access] = [openIn('worker.log'), openIn('api.log'), openIn('access.log')];
    return { worker: worker.logger, api: api.logger, access: access.logger, audit: api.always };
  } catch (error) {
    throw new CardpollError('config', 'log_dir_unusable', `log directory ${dir}: ${messageOf(error)}`, {
      hint: 'create the directory and let the user of the daemon write to it, or choose another with --log-dir',
      cause: error,
    });
  }
}

/** A logger that drops every line, for code that runs outside a daemon. */
export function silentLogger(): Logger {
  return pino({ enabled: false });
}

/** pino's number of the level. */
const INFO = 30;
/** A text with only one spelling in JSON: itself in quotes. */
const PLAIN_TEXT = /^[ !#-[\]-\ud7ff\ue000-\uffff]{0,100}$/;

/** pino's own parts of a line, which it keeps under symbols. */
interface LineParts {
  readonly [pino.symbols.lsCacheSym]: { readonly [INFO]: string };
  readonly [pino.symbols.timeSym]: () => string;
  readonly [pino.symbols.chindingsSym]: string;
  readonly [pino.symbols.streamSym]: { write(line: string): void };
}

/**
 * A fast path for the lines of every poll. Writes, byte for byte, the same as `log.info(fields, message)`, in a third of the
 * time. pino writes lines with a value that has more than one spelling. A serializer, redaction or mixin of the logger would not
 * apply to these lines; a test compares them with pino's.
 */
export function infoLine(log: Logger, message: string): (fields: Readonly<Record<string, unknown>>) => void {
  // A logger that is not pino's, as in the simulated nights.
  if (!(pino.symbols.streamSym in log)) return (fields) => log.info(fields, message);
  const parts = log as Logger & LineParts;
  const begin = parts[pino.symbols.lsCacheSym][INFO];
  const time = parts[pino.symbols.timeSym];
  const bindings = parts[pino.symbols.chindingsSym];
  const file = parts[pino.symbols.streamSym];
  const end = `,"msg":${JSON.stringify(message)}}\n`;
  return (fields) => {
    if (!log.isLevelEnabled('info')) return;
    let text = '';
    for (const name in fields) {
      const value = fields[name];
      if (typeof value === 'string' && PLAIN_TEXT.test(value)) text += `,"${name}":"${value}"`;
      else if (typeof value === 'boolean' || value === null || Number.isFinite(value))
        text += `,"${name}":${value}`;
      else if (value !== undefined) return log.info(fields, message);
    }
    file.write(begin + time() + bindings + text + end);
  };
}

function writeToStderr(message: string): void {
  process.stderr.write(`cardpoll: ${message}\n`);
}

/**
 * Formats the `time` of log lines, with the offset of the process's zone, so that a day searched in the logs is the
 * operator's day. Every line needs it, so all but the milliseconds is computed once a second.
 */
export function logTimeFormatter(): (epochMs: number) => string {
  let second = Number.NaN;
  let date = '';
  let offset = '';
  return (epochMs) => {
    const present = Math.floor(epochMs / 1000);
    if (present !== second) {
      second = present;
      const offsetMinutes = -new Date(epochMs).getTimezoneOffset();
      date = new Date(present * 1000 + offsetMinutes * 60_000).toISOString().slice(0, 19);
      offset = formatOffset(offsetMinutes);
    }
    const milliseconds = Math.floor(epochMs) - present * 1000;
    return `${date}.${String(milliseconds).padStart(3, '0')}${offset}`;
  };
}

function formatOffset(minutes: number): string {
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(size / 60))}:${twoDigits(size % 60)}`;
}
