// Renders lines with Ink to the text that a terminal gets. Used by the session for each frame, and by --once.
import { Box, renderToString, Text, type TextProps } from 'ink';
import type { ReactElement } from 'react';
import type { Line, Span, Tone } from './layout.ts';

/** Colours that every terminal has, without black and white, so that they can be read on light and dark backgrounds. */
const TONES: Record<Tone, TextProps> = {
  green: { color: 'green' },
  yellow: { color: 'yellow' },
  red: { color: 'red', bold: true },
  accent: { color: 'cyan' },
  dim: { dimColor: true },
  bold: { bold: true },
  picked: { color: 'cyan', bold: true },
};

/** @returns one text for each line, with colours where chalk has them on. */
export function renderLines(lines: readonly Line[], columns: number): string[] {
  return lines.length === 0 ? [] : renderToString(<Screen lines={lines} />, { columns }).split('\n');
}

/** Enough for several views, so that going back to one renders nothing. */
const MOST_KEPT_LINES = 2_000;

/** Renders frame after frame. Most lines stay the same, so lines are kept, and rendered when they are new. */
export class FrameRenderer {
  #columns = 0;
  /** Line -> its text. */
  readonly #known = new Map<string, string>();

  render(lines: readonly Line[], columns: number): string[] {
    if (columns !== this.#columns || this.#known.size > MOST_KEPT_LINES) this.#known.clear();
    this.#columns = columns;
    const keyed = lines.map((line) => [JSON.stringify(line), line] as const);
    const fresh = new Map(keyed.filter(([key]) => !this.#known.has(key)));
    const texts = renderLines([...fresh.values()], columns);
    for (const [i, key] of [...fresh.keys()].entries()) this.#known.set(key, texts[i] ?? '');
    return keyed.map(([key]) => this.#known.get(key) ?? '');
  }
}

function Screen({ lines }: { readonly lines: readonly Line[] }): ReactElement {
  return (
    <Box flexDirection="column">
      {lines.map((line, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Text key={row} wrap="truncate-end">
          {line.length === 0 ? ' ' : line.map(spanElement)}
        </Text>
      ))}
    </Box>
  );
}

function spanElement({ text, tone }: Span, i: number) {
  if (tone === undefined) return text;
  return (
    <Text key={i} {...TONES[tone]}>
      {text}
    </Text>
  );
}
