// A state as the lines of text a terminal gets, made by Ink. Used by the session again and again, and by --once.
import { renderToString } from 'ink';
import type { Line } from './line.ts';
import { Screen } from './screen.tsx';

/** @returns one text a line, colours included where chalk has them. */
export function renderLines(lines: readonly Line[], columns: number): string[] {
  return renderToString(<Screen lines={lines} />, { columns }).split('\n');
}
