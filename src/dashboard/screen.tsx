// Lines as Ink elements: the one component of the dashboard. Props only.
import { Box, Text, type TextProps } from 'ink';
import type { ReactElement } from 'react';
import type { Line, Tone } from './line.ts';

/** The sixteen colours of every terminal, and no black or white: they are read on light and dark backgrounds. */
const TONES: Record<Tone, TextProps> = {
  good: { color: 'green' },
  warn: { color: 'yellow' },
  bad: { color: 'red', bold: true },
  accent: { color: 'cyan' },
  dim: { dimColor: true },
  bold: { bold: true },
  picked: { color: 'cyan', bold: true },
};

export function Screen({ lines }: { readonly lines: readonly Line[] }): ReactElement {
  return (
    <Box flexDirection="column">
      {lines.map((line, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Text key={row} wrap="truncate-end">
          {line.length === 0 ? ' ' : line.map(({ text, tone }, i) => spanElement(text, tone, i))}
        </Text>
      ))}
    </Box>
  );
}

function spanElement(text: string, tone: Tone | undefined, i: number) {
  return tone === undefined ? (
    text
  ) : (
    <Text key={i} {...TONES[tone]}>
      {text}
    </Text>
  );
}
