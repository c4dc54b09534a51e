// Formats values: for people, with or without a terminal, and plain in records for programs. Colours use the one shared chalk
// instance.

import type { ChalkInstance } from 'chalk';
import type { Health } from '../domain/health.ts';
import { percentDown } from '../domain/numbers.ts';
import { plainText } from '../domain/plain-text.ts';
import { span } from '../domain/words.ts';
import { type Toned, wordWrap } from './line.ts';
import { loadWidths } from './width.ts';

export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold';

export interface Cell extends Toned<Colour> {
  readonly align?: 'right';
}

const NOTHING = '-';
/** Decimals of a share. */
const MOST_DIGITS = 6;
/** The look of a state everywhere: commands and the dashboard show the symbol, a word, and both in the colour. */
const SIGNS = {
  good: ['●', 'green'],
  warning: ['▲', 'yellow'],
  bad: ['✖', 'red'],
  paused: ['■', 'yellow'],
  off: ['■', 'dim'],
} as const satisfies Record<string, readonly [symbol: string, colour: Colour]>;
export type Sign = keyof typeof SIGNS;

/** The symbol and the word in their colour. */
export function signed(sign: Sign, word = ''): Cell {
  const [symbol, tone] = SIGNS[sign];
  return { text: word === '' ? symbol : `${symbol} ${word}`, tone };
}

const HEALTH_SIGNS: Record<Health, Sign> = { normal: 'good', warning: 'warning', alert: 'bad' };

/** In the colour of its sign. @param word empty: only the symbol. */
export function healthSigned(health: Health, word: string = health): Cell {
  return signed(HEALTH_SIGNS[health], word);
}

/** The available room. */
export interface Layout {
  /** For lists, in columns; null: unlimited, so that no value is cut. */
  readonly columns: number | null;
  /** For the one table of a summary, whose text has the width below; null: unlimited. */
  readonly summaryColumns: number | null;
  /** For sentences. */
  readonly textColumns: number;
}

/** For a terminal without a known size, and for text without a terminal. */
export const USUAL_SIZE = { columns: 80, rows: 24 } as const;
const PLAIN: Layout = { columns: null, summaryColumns: null, textColumns: USUAL_SIZE.columns };
/** Before all lines of a sentence except the first. */
export const INDENT = '  ';

/** `terminal` and `text` are for people, who read now or later; `records` is for programs. */
export type Look = 'terminal' | 'text' | 'records';

export class Style {
  constructor(
    private readonly look: Look,
    private readonly nowMs: number,
    private readonly chalk: ChalkInstance,
    readonly layout: Layout = PLAIN,
  ) {}

  /** True for headers, grouped digits, symbols and sentences; false for records. */
  get forPeople(): boolean {
    return this.look !== 'records';
  }

  text(value: string | number | null, colour?: Colour): Cell {
    const text = value === null || value === '' ? NOTHING : plainText(String(value));
    return { text, tone: colour };
  }

  /** @param digits decimals. @param most up to this many if the value has them, to distinguish it from its bound. */
  number(value: number | null, digits = 0, most = digits): Cell {
    if (value === null) return { text: NOTHING, align: 'right' };
    const text = this.forPeople
      ? value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: most })
      : String(value);
    return { text, align: 'right' };
  }

  /** Rounded down for people, so that 99.96 is not shown as 100, and 0.04 not as 0. */
  percent(value: number | null): Cell {
    return this.number(value === null || !this.forPeople ? value : percentDown(value, 1), 1, MOST_DIGITS);
  }

  /** A number used as a name. Its digits are never grouped. */
  id(value: number | string | null): Cell {
    return { ...this.text(value), align: 'right' };
  }

  yesNo(value: boolean): Cell {
    return { text: value ? 'yes' : 'no' };
  }

  enabled(value: boolean): Cell {
    return this.text(enabledWord(value), value ? 'green' : 'yellow');
  }

  failures(count: number): Cell {
    return { ...this.number(count), tone: count > 0 ? 'red' : undefined };
  }

  estimate(value: number, isEstimated: boolean): Cell {
    const cell = this.number(value);
    return isEstimated && this.forPeople ? { ...cell, text: `~${cell.text}` } : cell;
  }

  /** Relative only on a terminal, because a mail or a file is read later. @param value RFC 3339. */
  time(value: string | null): Cell {
    if (value === null) return { text: NOTHING };
    if (this.look !== 'terminal') return { text: value };
    return { text: relativeTime(value, this.nowMs) };
  }

  /** How long a state has lasted; null: no start, or no terminal, where the time itself is shown. @param since RFC 3339 */
  lasting(since: string | null): string | null {
    if (since === null || this.look !== 'terminal') return null;
    return span(Math.max(0, Math.round((this.nowMs - Date.parse(since)) / 1_000)));
  }

  /** The time of a frequently repeated event; yellow if the last was more than 5 s ago. */
  heartbeat(value: string): Cell {
    return { ...this.time(value), tone: this.nowMs - Date.parse(value) > 5_000 ? 'yellow' : undefined };
  }

  /** The time of day on the reader's clock, with the date when it is more than half a day ago. @param value RFC 3339. */
  clockTime(value: string): string {
    const at = new Date(value);
    const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
    return this.nowMs - at.getTime() < 86_400_000 / 2 ? time : `${at.toLocaleDateString('sv-SE')} ${time}`;
  }

  seconds(value: number | null): Cell {
    if (value === null) return { text: NOTHING, align: 'right' };
    return { text: this.forPeople ? span(Math.round(value)) : String(value), align: 'right' };
  }

  health(value: Health): Cell {
    const { text, tone } = healthSigned(value);
    return { text: this.forPeople ? text : value, tone };
  }

  paint(text: string, colour: Colour | undefined): string {
    return colour === undefined ? text : this.chalk[colour](text);
  }
}

/** The parts of the process that decide the look of its output. */
interface Screen {
  readonly stdout: { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: { now(): number };
}

/** The style for stdout. It has colours only on a terminal, and not with NO_COLOR. */
export async function styleFor(io: Screen, format: 'table' | 'wide' | 'tsv' = 'table'): Promise<Style> {
  const isTerminal = io.stdout.isTTY === true;
  const { default: chalk } = await import('chalk');
  const wanted = isTerminal && (io.env.NO_COLOR ?? '') === '' && io.env.TERM !== 'dumb';
  chalk.level = wanted ? (Math.max(1, chalk.level) as typeof chalk.level) : 0;
  if (format === 'tsv') return new Style('records', io.clock.now(), chalk);
  await loadWidths();
  const room = isTerminal ? io.stdout.columns || USUAL_SIZE.columns : columnsOf(io);
  const textColumns = room ?? USUAL_SIZE.columns;
  const [columns, summaryColumns] = format === 'wide' ? [null, null] : [room, textColumns];
  const layout = { columns, summaryColumns, textColumns };
  // `watch` shows the text immediately, and sets its width.
  return new Style(room === null ? 'text' : 'terminal', io.clock.now(), chalk, layout);
}

const ASCII: Readonly<Record<string, string>> = {
  ...{ '●': '*', '▲': '!', '✖': 'x', '■': '=', '▸': '>', '…': '.', '◆': '+', '▼': 'v' },
  ...{ '←': '<', '→': '>', '↑': '^', '↓': 'v', '─': '-', '▏': '|' },
  ...{ '▁': '_', '▂': '.', '▃': ',', '▄': '-', '▅': '=', '▆': '+', '▇': '*', '█': '#', '░': '.' },
  ...{ '╭': '+', '╮': '+', '╰': '+', '╯': '+', '│': '|' },
};
const SYMBOL = /[●▲▼✖■◆▸…←→↑↓─│╭╮╰╯▏▁-█░\u2800-\u28ff]/g;
/** The dots in the upper and in the lower half of a braille character. */
const UPPER_DOTS = 0x1b;
const LOWER_DOTS = 0xe4;

/** Replaces our own symbols by ASCII, in as many columns, if the locale has no others. Names stay unchanged. */
export function inLocale(text: string, { env }: Pick<Screen, 'env'>): string {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return /^(C|POSIX)$/i.test(locale)
    ? text.replace(SYMBOL, (symbol) => ASCII[symbol] ?? dotsOf(symbol))
    : text;
}

function dotsOf(braille: string): string {
  const bits = braille.charCodeAt(0) & 0xff;
  if ((bits & UPPER_DOTS) === 0) return (bits & LOWER_DOTS) === 0 ? ' ' : '.';
  return (bits & LOWER_DOTS) === 0 ? "'" : ':';
}

/** The width that a program such as watch has set for its own screen; null: none. */
function columnsOf({ env }: Screen): number | null {
  const columns = Number(env.COLUMNS);
  return Number.isInteger(columns) && columns > 0 ? columns : null;
}

/** A sentence wrapped at its words. @param before printed before it, unchanged. */
export function sentenceLines(text: string, { layout }: Style, before = ''): string[] {
  const said = before.trimStart();
  const blanks = before.slice(0, before.length - said.length);
  const room = layout.textColumns - Math.max(INDENT.length, blanks.length);
  const lines = wordWrap(`${said}${plainText(text)}`, room);
  return lines.map((line, index) => `${index === 0 ? blanks : INDENT}${line}`);
}

/** The same after a label in a separate colour. */
export function labelledLines(label: Cell, gap: string, text: string, style: Style): string[] {
  const [first = '', ...more] = sentenceLines(text, style, `${label.text}${gap}`);
  return [`${style.paint(label.text, label.tone)}${first.slice(label.text.length)}`, ...more];
}

/** A command to run, on one line, so that it can be copied. @param command null: no command, and no line. */
export function commandLines(command: string | null, colour: Colour, style: Style): string[] {
  return command === null ? [] : [`${INDENT}${style.paint(style.text(command).text, colour)}`];
}

/** 1,024.25: all digits, grouped. */
export function exactText(value: number): string {
  return value.toLocaleString('en-US', { maximumFractionDigits: 20 });
}

/** `1, 2, 3`; for more than twenty, with the number of the others. */
export function someIds(ids: readonly number[]): string {
  const more = ids.length > 20 ? ` and ${ids.length - 20} more` : '';
  return `${ids.slice(0, 20).join(', ')}${more}`;
}

export function enabledWord(isEnabled: boolean): string {
  return isEnabled ? 'enabled' : 'disabled';
}

/** Decimals of a rate or a duration: as many as are needed to distinguish a low one from 0. */
export function digitsOf(value: number): number {
  if (value <= 0 || value >= 9.95) return 0;
  return value < 0.095 ? Math.max(2, Math.ceil(-Math.log10(value))) : 1;
}

/** At most four characters: 1.2k, 123k, 1.2M, 10M. @param value at least 999.5. */
export function abbreviated(value: number): string {
  const [scaled, unit] =
    value < 999_500 ? [value / 1e3, 'k'] : value < 999.5e6 ? [value / 1e6, 'M'] : [value / 1e9, 'G'];
  return `${scaled < 9.95 ? scaled.toFixed(1).replace(/\.0$/, '') : Math.round(scaled)}${unit}`;
}

/** `12s ago`, `in 5m`. @param time RFC 3339. */
export function relativeTime(time: string, nowMs: number): string {
  const ahead = Math.round((Date.parse(time) - nowMs) / 1000);
  if (ahead === 0) return 'now';
  return ahead < 0 ? `${span(-ahead)} ago` : `in ${span(ahead)}`;
}
