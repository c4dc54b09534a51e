// How values look: formatted on a terminal, plain behind a pipe. Colours go through the one shared chalk instance.
import type { ChalkInstance } from 'chalk';
import type { Health } from '../../domain/health.ts';
import type { Io } from '../io.ts';
import { plainText, type Toned, type WidthOf, wordWrap } from './line.ts';

export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold';

export interface Cell extends Toned<Colour> {
  readonly align?: 'right';
}

const NOTHING = '-';
const HEALTH: Record<Health, { readonly symbol: string; readonly tone: Colour }> = {
  normal: { symbol: '●', tone: 'green' },
  warning: { symbol: '▲', tone: 'yellow' },
  alert: { symbol: '✖', tone: 'red' },
};
const UNITS = [
  { seconds: 86_400, letter: 'd' },
  { seconds: 3_600, letter: 'h' },
  { seconds: 60, letter: 'm' },
  { seconds: 1, letter: 's' },
] as const;

/** How much room tables have, and how it is measured. */
export interface Layout {
  /** Columns of the terminal; null: as many as the table takes. */
  readonly columns: number | null;
  /** Whether the columns are named behind a pipe too. */
  readonly header: boolean;
  readonly widthOf: WidthOf;
}

const PLAIN: Layout = { columns: null, header: false, widthOf: ({ length }) => length };
/** For a terminal that does not know its width. */
const USUAL_COLUMNS = 80;
/** In front of all lines of a sentence but the first. */
const INDENT = '  ';

export class Style {
  constructor(
    /** True on a terminal: relative times, grouped digits, symbols, headers. */
    readonly forPeople: boolean,
    private readonly nowMs: number,
    private readonly chalk: ChalkInstance,
    readonly layout: Layout = PLAIN,
  ) {}

  text(value: string | number | null, colour?: Colour): Cell {
    const text = value === null || value === '' ? NOTHING : plainText(String(value));
    return { text, tone: colour };
  }

  number(value: number | null, digits = 0): Cell {
    if (value === null) return { text: NOTHING, align: 'right' };
    const text = this.forPeople
      ? value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
      : String(value);
    return { text, align: 'right' };
  }

  /** A number that is a name. Its digits are never grouped. */
  id(value: number | string | null): Cell {
    return { ...this.text(value), align: 'right' };
  }

  yesNo(value: boolean): Cell {
    return { text: value ? 'yes' : 'no' };
  }

  /** @param value RFC 3339. */
  time(value: string | null): Cell {
    if (value === null) return { text: NOTHING };
    if (!this.forPeople) return { text: value };
    return { text: relativeTime(value, this.nowMs) };
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
    const { symbol, tone } = HEALTH[value];
    return { text: this.forPeople ? `${symbol} ${value}` : value, tone };
  }

  paint(text: string, colour: Colour | undefined): string {
    return colour === undefined ? text : this.chalk[colour](text);
  }
}

interface StyleOptions {
  /** Tables in full, however wide. */
  readonly wide?: boolean;
  readonly header?: boolean;
}

/** The style for stdout. It has colours only on a terminal, and not with NO_COLOR. */
export async function styleFor(io: Io, { wide = false, header = false }: StyleOptions = {}): Promise<Style> {
  const forPeople = io.stdout.isTTY === true;
  const { default: chalk } = await import('chalk');
  const wanted = forPeople && (io.env.NO_COLOR ?? '') === '' && io.env.TERM !== 'dumb';
  chalk.level = wanted ? (Math.max(1, chalk.level) as typeof chalk.level) : 0;
  if (!forPeople) return new Style(false, io.clock.now(), chalk, { ...PLAIN, header });
  const { widthOf } = await import('./width.ts');
  const columns = wide ? null : io.stdout.columns || USUAL_COLUMNS;
  return new Style(true, io.clock.now(), chalk, { columns, header, widthOf });
}

/** A sentence broken at its words. @param before is printed in front of it, unchanged. */
export function sentenceLines(text: string, { layout }: Style, before = ''): string[] {
  const room = layout.columns === null ? null : layout.columns - INDENT.length;
  const lines = wordWrap(`${before}${plainText(text)}`, room, layout.widthOf);
  return lines.map((line, index) => (index === 0 ? line : `${INDENT}${line}`));
}

/** `12s ago`, `in 5m`. @param time RFC 3339. */
export function relativeTime(time: string, nowMs: number): string {
  const ahead = Math.round((Date.parse(time) - nowMs) / 1000);
  if (ahead === 0) return 'now';
  return ahead < 0 ? `${span(-ahead)} ago` : `in ${span(ahead)}`;
}

/** The two largest units: `2h 5m`. */
export function span(seconds: number): string {
  let rest = seconds;
  const parts: string[] = [];
  for (const { seconds: size, letter } of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${letter}`);
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? '0s' : parts.join(' ');
}
