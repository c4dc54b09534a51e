// How values look: for people on a terminal, plain for programs behind a pipe. Colours go through the one shared
// chalk instance. Knows single values, not tables.
import type { ChalkInstance } from 'chalk';
import type { Health } from '../../domain/health.ts';
import type { Io } from '../io.ts';

export type Colour = 'green' | 'yellow' | 'red' | 'dim' | 'bold';

/** A value ready to be shown. */
export interface Cell {
  readonly text: string;
  readonly colour?: Colour;
  readonly align?: 'right';
}

const NOTHING = '-';
const HEALTH: Record<Health, { readonly symbol: string; readonly colour: Colour }> = {
  normal: { symbol: '●', colour: 'green' },
  warning: { symbol: '▲', colour: 'yellow' },
  alert: { symbol: '✖', colour: 'red' },
};
const UNITS = [
  { seconds: 86_400, letter: 'd' },
  { seconds: 3_600, letter: 'h' },
  { seconds: 60, letter: 'm' },
  { seconds: 1, letter: 's' },
] as const;

export class Style {
  constructor(
    /** True on a terminal: relative times, grouped digits, symbols, headers. */
    readonly forPeople: boolean,
    private readonly nowMs: number,
    private readonly chalk: ChalkInstance,
  ) {}

  text(value: string | number | null, colour?: Colour): Cell {
    // Names come from outside: nothing in them may steer the terminal or break the line.
    const text = value === null || value === '' ? NOTHING : String(value).replace(/\p{Cc}+/gu, ' ');
    return colour === undefined ? { text } : { text, colour };
  }

  number(value: number | null, digits = 0): Cell {
    if (value === null) return { text: NOTHING, align: 'right' };
    const text = this.forPeople
      ? value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
      : String(value);
    return { text, align: 'right' };
  }

  yesNo(value: boolean): Cell {
    return { text: value ? 'yes' : 'no' };
  }

  /** @param value RFC 3339. */
  time(value: string | null): Cell {
    if (value === null) return { text: NOTHING };
    if (!this.forPeople) return { text: value };
    const seconds = Math.round((Date.parse(value) - this.nowMs) / 1000);
    if (Math.abs(seconds) < 1) return { text: 'now' };
    return { text: seconds < 0 ? `${span(-seconds)} ago` : `in ${span(seconds)}` };
  }

  seconds(value: number | null): Cell {
    if (value === null) return { text: NOTHING, align: 'right' };
    return { text: this.forPeople ? span(Math.round(value)) : String(value), align: 'right' };
  }

  health(value: Health): Cell {
    const { symbol, colour } = HEALTH[value];
    return { text: this.forPeople ? `${symbol} ${value}` : value, colour };
  }

  paint(text: string, colour: Colour | undefined): string {
    return colour === undefined ? text : this.chalk[colour](text);
  }
}

/** The style for what goes to stdout. Colours only on a terminal, and not with NO_COLOR. */
export async function styleFor(io: Io): Promise<Style> {
  const forPeople = io.stdout.isTTY === true;
  const { default: chalk } = await import('chalk');
  const wanted = forPeople && (io.env.NO_COLOR ?? '') === '' && io.env.TERM !== 'dumb';
  chalk.level = wanted ? (Math.max(1, chalk.level) as typeof chalk.level) : 0;
  return new Style(forPeople, io.clock.now(), chalk);
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
