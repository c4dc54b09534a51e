// Frames of the dashboard as its tests read them: without colours, or with the sequences of sixteen colours.
import chalk from 'chalk';
import type { State } from '../../../src/dashboard/state.ts';
import { renderFrame, renderStill } from '../../../src/dashboard/views/frame.tsx';

chalk.level = 1;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are taken out
const COLOURS = /\x1b\[[\d;]*m/g;

/** How a text in these tones begins. */
export const YELLOW = '\x1b[33m';
export const DIM = '\x1b[2m';
export const ACCENT = '\x1b[36m';
export const BACKGROUNDS = { green: '\x1b[42m', yellow: '\x1b[43m', red: '\x1b[41m', magenta: '\x1b[45m' };

export function plain(text: string): string {
  return text.replace(COLOURS, '');
}

export function linesOf(state: State): string[] {
  return renderFrame(state).map(plain);
}

export function screenOf(state: State): string {
  return linesOf(state).join('\n');
}

export function stillOf(state: State): string[] {
  return renderStill(state).map(plain);
}
