// The Ink components that all views use: a line of spans, lines below each other, two ends of a line, a frame. Text from outside
// is made harmless here, in the one place that all of it passes.

import chalk, { type ChalkInstance } from 'chalk';
import { Box, Text } from 'ink';
import { createContext, type PropsWithChildren, useContext } from 'react';
import { plainText } from '../domain/plain-text.ts';
import { EMPTY, type Line, span, type Tone } from './layout.ts';

/**
 * The sixteen colours that every terminal has. Black and white are not used, so that text is readable on dark and light
 * backgrounds. Lines that share a chart also differ in brightness, for readers who cannot distinguish their colours.
 */
const TONES: Record<Tone, ChalkInstance> = {
  green: chalk.green,
  yellow: chalk.yellow,
  red: chalk.bold.red,
  accent: chalk.cyan,
  second: chalk.magenta,
  third: chalk.blueBright,
  dim: chalk.dim,
  bold: chalk.bold,
  picked: chalk.bold.cyan,
  tab: chalk.bold.inverse,
};

/** Stale data is dim throughout. */
export const Stale = createContext(false);

interface RowProps {
  readonly line: Line;
  /** The colour of text without a tone, on a background. */
  readonly ink?: string;
}

/** One text, already in colour: a component for each span costs a third more. */
export function Row({ line, ink }: RowProps) {
  const text = painted(line, useContext(Stale));
  return (
    <Text wrap="truncate-end" {...(ink === undefined ? {} : { color: ink })}>
      {text || ' '}
    </Text>
  );
}

/** The text of a line in its colours. */
export function painted(line: Line, isStale: boolean): string {
  const spans = isStale ? line.map(({ text }) => span(text, 'dim')) : line;
  return spans
    .map(({ text, tone }) => (tone === undefined ? plainText(text) : TONES[tone](plainText(text))))
    .join('');
}

/** Lines below each other. The box around them cuts those that do not fit. */
export function Rows({ lines }: { readonly lines: readonly Line[] }) {
  return (
    <Box flexDirection="column" flexShrink={0}>
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Row key={i} line={line} />
      ))}
    </Box>
  );
}

/** Left and right part on one line. If both do not fit, the left one is cut. */
export function Ends({ left, right }: { readonly left: Line; readonly right: Line }) {
  return (
    <Box justifyContent="space-between" height={1} gap={1} flexShrink={0}>
      <Row line={left} />
      <Box flexShrink={0}>
        <Row line={right} />
      </Box>
    </Box>
  );
}

interface PanelProps extends PropsWithChildren {
  readonly title: Line;
  readonly right?: Line;
  /** The frame has a colour while it needs attention. */
  readonly tone?: 'yellow' | 'red' | undefined;
  readonly width?: number;
  readonly height?: number;
}

/** A frame with a title. Its inner width is PANEL_COLUMNS less than its own. */
export function Panel({ title, right = EMPTY, tone, width, height, children }: PanelProps) {
  const colour = useContext(Stale) ? undefined : tone;
  const size = { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
  return (
    <Box
      {...size}
      borderStyle="round"
      borderColor={colour}
      borderDimColor={colour === undefined}
      flexDirection="column"
      flexShrink={0}
      overflowY="hidden"
      paddingX={1}
    >
      <Ends left={title} right={right} />
      {children}
    </Box>
  );
}

/** Frame and padding of a panel, left and right. */
export const PANEL_COLUMNS = 4;
/** Frame and title of a panel. */
export const PANEL_ROWS = 3;
