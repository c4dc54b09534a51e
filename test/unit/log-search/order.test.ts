// A file is skipped, or left early, only if it is known to run forwards.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/log-search/report/report.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '89860622330044556677';
const DAY_MS = 86_400_000;
const FROM_MS = Date.parse('2026-11-08T00:00:00Z');
const MTIME = '2026-11-12T02:00:00Z';

/** Lines of the card over three days, one in so many minutes; padded, so that files have many blocks. */
function days(minutes: number, padding: number): string[] {
  const count = (3 * DAY_MS) / (minutes * 60_000);
  return Array.from({ length: count }, (_, nth) => {
    const time = new Date(FROM_MS + nth * minutes * 60_000).toISOString();
    return `${time} iccid=${CARD} ${'x'.repeat(padding)}\n`;
  });
}

const perDay = (minutes: number) => DAY_MS / (minutes * 60_000);

async function search(content: string | Buffer, date: string, name = 'app.log') {
  const tree = new LogTree();
  tree.write(name, content, MTIME);
  const report = await tree.search({ iccid: CARD, date, countOnly: true });
  return [report.hits, report.undated, exitCodeOf(report)];
}

describe.each([
  ['small', 20, 10],
  ['large', 2, 2_000],
])('a %s file', (_, minutes, padding) => {
  const forwards = days(minutes, padding);

  it.each(['2026-11-08', '2026-11-09', '2026-11-10'])('is searched for %s in either order', async (date) => {
    for (const lines of [forwards, forwards.toReversed()]) {
      const content = lines.join('');
      for (const file of [content, gzipSync(content, { level: 1 })])
        expect(await search(file, date)).toEqual([perDay(minutes), 0, 0]);
    }
  });

  it.each([
    ['2036, before the clock was set', '2036-02-07T06:28:00Z', 0],
    ['2036, in between', '2036-02-07T06:28:00Z', 0.4],
    ['a day ahead, at first', '2026-11-11T06:28:00Z', 0],
  ])('is searched when the clock was in %s', async (_, wrong, at) => {
    const boot = `${wrong} boot step\n`.repeat(30);
    const cut = Math.floor(forwards.length * at);
    const content = [...forwards.slice(0, cut), boot, ...forwards.slice(cut)].join('');
    for (const date of ['2026-11-08', '2026-11-10'])
      expect(await search(content, date)).toEqual([perDay(minutes), 0, 0]);
  });
});

it('a file of records without times is never skipped for the times of others in it', async () => {
  const content = `2026-11-01T00:00:00Z start\n${`call iccid=${CARD}\n`.repeat(3)}2026-11-01T00:01:00Z end\n`;
  for (const date of ['2026-11-01', '2026-11-09']) expect(await search(content, date)).toEqual([0, 3, 2]);
});

it('files of a day are still skipped for other days', async () => {
  const tree = new LogTree();
  for (const [day, name] of ['app.log.2', 'app.log.1', 'app.log'].entries()) {
    const time = (minute: number) => new Date(FROM_MS + day * 2 * DAY_MS + minute * 60_000).toISOString();
    const lines = Array.from({ length: 100 }, (_, minute) => `${time(minute)} iccid=${CARD}\n`).join('');
    tree.write(name, day === 2 ? lines : gzipSync(lines), Date.parse(MTIME));
  }
  for (const [date, reasons] of [
    ['2026-11-08', ['begins_after', 'begins_after']],
    ['2026-11-12', ['successor_begins_before']],
  ] as const) {
    const { hits, prunedFiles } = await tree.search({ iccid: CARD, date });
    expect(hits).toBe(100);
    expect(prunedFiles.map(({ reason }) => reason)).toEqual(reasons);
  }
});
