// The edges of a time window: what lies on them, what lies a millisecond beside, and how late a line may be written.
import { expect, it } from 'vitest';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '8986001234567890123';
const FROM = '2026-02-01T10:00:00Z';
const UNTIL = '2026-02-01T11:00:00Z';
const WINDOW = { iccid: CARD, since: FROM, until: UNTIL };

/** A line of the card so many milliseconds after an instant. */
const line = (instant: string, ms = 0) =>
  `${new Date(Date.parse(instant) + ms).toISOString()} iccid=${CARD}\n`;

it('holds its first instant and not its last, to the millisecond', async () => {
  const tree = new LogTree();
  const [before, first, last, after] = [line(FROM, -1), line(FROM), line(UNTIL, -1), line(UNTIL)];
  tree.write('worker.log', before + first + last + after);
  const report = await tree.search(WINDOW);
  expect(report.hits).toBe(2);
  expect([report.firstMs, report.lastMs]).toEqual([Date.parse(FROM), Date.parse(UNTIL) - 1]);
});

it.each([
  ['ends before it begins', UNTIL, FROM],
  ['ends where it begins', FROM, FROM],
])('is refused when it %s', async (_, since, until) => {
  const tree = new LogTree();
  tree.write('worker.log', line(FROM));
  await expect(tree.search({ iccid: CARD, since, until })).rejects.toMatchObject({
    kind: 'usage',
    code: 'empty_window',
  });
});

it('finds a line that was written up to two hours late, or early', async () => {
  const minutes = (count: number) => count * 60_000;
  const many = (instant: string, ms: number) => line(instant, ms).repeat(100);
  const tree = new LogTree();
  // A file of lines past the window, then one that belongs into it; large, so that it is read in pieces.
  const filler = `${new Date(Date.parse(UNTIL) + minutes(119)).toISOString()} ${'x'.repeat(900)}\n`;
  tree.write('late.log', line(FROM) + filler.repeat(4_000) + line(UNTIL, -1));
  // All that is looked at of these, their ends, lies beside the window, though not by two hours.
  tree.write('begins-after.log', many(UNTIL, minutes(119)) + filler.repeat(100) + line(FROM));
  tree.write('ends-before.log', line(FROM) + many(FROM, -minutes(119)).repeat(20));
  // Begun before the window, with what is late for it, and followed by one that begins before the window too.
  tree.write('turned.log.1', line(FROM, -minutes(180)) + line(FROM));
  tree.write('turned.log', line(FROM, -minutes(119)));
  expect((await tree.search(WINDOW)).hits).toBe(5);
});
