// The doctor's findings as text. Used by the doctor command. As records: check, status, detail, hint, command.
import type { Finding } from '../../../domain/finding.ts';
import { type Colour, labelledLines, type Style, sentenceLines } from '../style.ts';

const LOOKS: Record<Finding['status'], readonly [symbol: string, colour: Colour]> = {
  ok: ['●', 'green'],
  warning: ['▲', 'yellow'],
  failed: ['✖', 'red'],
  unknown: ['?', 'yellow'],
  skipped: ['-', 'dim'],
};
const STATUS_COLUMNS = 8;
const INDENT = '  ';

/** The findings, and how many there are of each status. */
export function findingText(items: readonly Finding[], style: Style): string {
  return `${findingLines(items, style)}${style.forPeople ? `${summaryOf(items)}\n` : ''}`;
}

/** Nothing for no findings. */
export function findingLines(items: readonly Finding[], style: Style): string {
  if (!style.forPeople) return items.map((item) => recordOf(item, style)).join('');
  return items.flatMap((item) => linesOf(item, style).map((line) => `${line}\n`)).join('');
}

function recordOf({ check, status, detail, hint, command }: Finding, style: Style): string {
  return `${[check, status, detail, hint, command].map((value) => style.text(value).text).join('\t')}\n`;
}

function linesOf({ check, status, detail, hint, command }: Finding, style: Style): string[] {
  const [symbol, tone] = LOOKS[status];
  const label = { text: `${symbol} ${status}`, tone };
  const gap = ' '.repeat(STATUS_COLUMNS + 1 - status.length);
  const painted = labelledLines(label, gap, `${check}: ${detail}`, style);
  const advice = hint === null ? [] : sentenceLines(hint, style, INDENT);
  // On one line, so that it can be copied.
  const typed = command === null ? [] : [`${INDENT}${style.paint(style.text(command).text, 'bold')}`];
  return [...painted, ...advice, ...typed];
}

function summaryOf(items: readonly Finding[]): string {
  const counts = Object.keys(LOOKS).map(
    (status) => [items.filter((item) => item.status === status).length, status] as const,
  );
  return counts.flatMap(([count, status]) => (count === 0 ? [] : `${count} ${status}`)).join(', ');
}
