// Reading ends when the lines are past the window, and not when a few of them only look so.
import { describe, expect, it } from 'vitest';
import { gzip, members } from '../../support/gzip-damage.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '8986001234567890123';
const DAY = '2026-02-01';
const inside = (index: number) => `2026-02-01 10:00:${String(index).padStart(2, '0')} iccid=${CARD}\n`;
const ODD = `2030-01-01 00:00:00 package of ${CARD} is valid until then\n`;

describe('odd dates', () => {
  const lines = Array.from({ length: 50 }, (_, index) => (index === 3 || index === 4 ? ODD : inside(index)));

  it.each([
    ['a line a member', members(...lines)],
    ['a line a large member', members(...lines.map((line) => `${'x'.repeat(300_000)}\n${line}`))],
    ['plain', Buffer.from(lines.join(''))],
  ])('in %s do not end the search', async (_, file) => {
    const tree = new LogTree();
    tree.write('worker.log', file);
    for (const inflate of ['auto', 'zlib-sync', 'node'] as const) {
      expect((await tree.search({ iccid: CARD, date: DAY, inflate })).hits, inflate).toBe(48);
    }
  });
});

describe('lines past the window', () => {
  const later = `2026-02-02 10:00:00 ${'x'.repeat(200)}\n`.repeat(50_000);
  const text = `${inside(1)}${later}2026-02-01 23:00:00 too late iccid=${CARD}\n`;

  it.each([
    ['plain', Buffer.from(text)],
    ['gzip', gzip(text)],
  ])('end the search of a %s file', async (_, file) => {
    const tree = new LogTree();
    tree.write('worker.log', file);
    const report = await tree.search({ iccid: CARD, date: DAY });
    expect(report.hits).toBe(1);
    expect(report.bytes.searched).toBeLessThan(text.length / 2);
    expect((await tree.search({ iccid: CARD, date: DAY, prune: false })).hits).toBe(2);
  });
});
