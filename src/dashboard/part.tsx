// The parts of a screen: lines, or an Ink element such as a row of cards. Each is rendered once, and again when its content has
// changed: the whole screen as one element took 12.4 % of a core at rest on 120x40 and 150 ms for a key, parts take 8.9 % and 30
// ms (npm run bench:dashboard). Lines need no layout, so they are rendered without Ink.
import { renderToString } from 'ink';
import type { ReactElement } from 'react';
import { fitted } from '../terminal/line.ts';
import { widthOf } from '../terminal/width.ts';
import type { Line, Room } from './layout.ts';
import type { State } from './state.ts';
import { painted, Stale } from './ui.tsx';

/** The props of an element must contain everything that it shows, as text and numbers: they identify a rendered part. */
export type Part = readonly Line[] | ReactElement;

export type ViewProps = Room & { readonly state: State };

/** The parts of some screens: of the open view, and of those that keys lead to. */
const MOST_PARTS = 100;
const rendered = new Map<string, readonly string[]>();

/** The lines of a part, none wider than the columns. */
export function linesOf(part: Part, columns: number, isStale = false): readonly string[] {
  if (isLines(part) && part.length === 0) return [];
  const key = `${columns} ${isStale} ${JSON.stringify(part, nameOf)}`;
  const known = rendered.get(key);
  if (known !== undefined) {
    // The newest part is the last.
    rendered.delete(key);
    rendered.set(key, known);
    return known;
  }
  const lines = isLines(part)
    ? part.map((line) => painted(fitted(line, columns), isStale))
    : elementLines(part, columns, isStale);
  rendered.set(key, lines);
  for (const oldest of rendered.keys()) {
    if (rendered.size <= MOST_PARTS) break;
    rendered.delete(oldest);
  }
  return lines;
}

function isLines(part: Part): part is readonly Line[] {
  return Array.isArray(part);
}

function elementLines(element: ReactElement, columns: number, isStale: boolean): string[] {
  const text = renderToString(<Stale.Provider value={isStale}>{element}</Stale.Provider>, { columns });
  return text.split('\n').map((line) => (widthOf(line) > columns ? line.replace(CUT_HALF, '') : line));
}

/** Below each other, with a blank line between them. */
export function stacked(parts: readonly Part[], columns: number, isStale: boolean): string[] {
  const shown = parts.map((part) => linesOf(part, columns, isStale)).filter(({ length }) => length > 0);
  return shown.flatMap((lines, i) => (i === 0 ? lines : ['', ...lines]));
}

function nameOf(_: string, value: unknown): unknown {
  return typeof value === 'function' ? value.name : value;
}

/**
 * A character of two columns before the ellipsis that ends a line: Ink cuts a line one column too late if it ends with such a
 * character.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours may be between them
const CUT_HALF = /[^\x1b](?=(?:\x1b\[[\d;]*m)*…(?:\x1b\[[\d;]*m)*$)/u;
