// The kinds of hits: dated by their own line, dated by the record that they continue, and undated. A search with a window counts
// undated lines apart, and is incomplete. Nothing else dates a line: no name of a file, no mtime, no neighbour.
import { describe, expect, it } from 'vitest';
import { exitCodeOf, reportToJson } from '../../../src/log-search/report/report.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '89860622330044556677';
const DAY = { iccid: CARD, date: '2026-11-10', tz: 'Asia/Shanghai' };
const MTIME = '2026-11-12T02:00:00Z';
const hit = (before: string, after = '') => `${before} iccid=${CARD}${after}\n`;

interface Outcome {
  readonly hits: number;
  readonly undated?: number;
  readonly continued?: number;
  readonly ambiguous?: number;
  readonly code: number;
}

async function expectOutcome(tree: LogTree, expected: Outcome, options = {}): Promise<void> {
  const report = await tree.search({ ...DAY, ...options });
  const { hits, undated, continued, ambiguous } = report;
  const found = { hits, undated, continued, ambiguous, code: exitCodeOf(report) };
  expect(found).toEqual({ undated: 0, continued: 0, ambiguous: 0, ...expected });
}

function oneFile(content: string, name = 'app.log', mtime = MTIME): LogTree {
  const tree = new LogTree();
  tree.write(name, content, mtime);
  return tree;
}

/** One line of the card, which is undated on any day. */
const UNDATED = { hits: 0, undated: 1, code: 2 };

describe('a line without a time', () => {
  it.each([
    ['in a file that was written on the day', 'app.log', '2026-11-10T04:00:00Z'],
    ['in a file that was written before', 'app.log', '2020-01-01T00:00:00Z'],
    ['in a file with the day in its name', 'app-2026-11-10.log', MTIME],
    ['in a file with the day as its suffix', 'app.20261110', MTIME],
  ])('is undated %s', async (_, name, mtime) => {
    await expectOutcome(oneFile(hit('call'), name, mtime), UNDATED);
    await expectOutcome(oneFile(hit('call'), name, mtime), UNDATED, { date: '2026-11-09' });
  });

  it.each([
    ['below a line with a time', `2026-11-10 09:00:00 start\n${hit('call')}`],
    ['above a line with a time', `${hit('call')}2026-11-10 09:00:00 end\n`],
    ['between lines of the same day', `2026-11-10 09:00:00 a\n${hit('call')}2026-11-10 09:00:01 b\n`],
  ])('is undated %s', async (_, content) => {
    await expectOutcome(oneFile(content), UNDATED);
  });

  it('counts without a window, and has no time', async () => {
    const report = await oneFile(hit('call')).search({ iccid: CARD, all: true });
    expect(report).toMatchObject({ hits: 1, undated: 1, firstMs: null, lastMs: null });
    expect([...report.records()]).toMatchObject([{ timeMs: Number.POSITIVE_INFINITY }]);
    expect(exitCodeOf(report)).toBe(0);
  });

  it('is shown apart', async () => {
    const report = await oneFile(hit('call') + hit('2026-11-10 09:00:00 poll')).search(DAY);
    expect(report.samples.map(({ line }) => line.toString())).toEqual([
      `2026-11-10 09:00:00 poll iccid=${CARD}`,
    ]);
    expect(report.undatedSamples.map(({ line }) => line.toString())).toEqual([`call iccid=${CARD}`]);
  });

  it('is not undated where it belongs to another interface', async () => {
    const tree = oneFile(hit('call', ' used=1') + hit('call', ' realStatus=1'));
    await expectOutcome(tree, UNDATED, { interface: 'flow' });
  });
});

describe('a line that continues a record', () => {
  const START = '2026-11-10 09:00:00 ERROR poll failed\n';
  it.each([
    ['indented', `${START}${hit('  retried')}`],
    ['indented, with a date in its text', `${START}${hit('  retried', ' activated 2024-03-01 08:00:00')}`],
    ['of a stack', `${START}\tat com.x.Poller.call(Poller.java:1)\n${hit('Caused by: x.GatewayException:')}`],
    ['of a stack without blanks', `${START}at poll (poll.js:1)\n${hit('at answer')}`],
    ['of an object', `2026-11-10 09:00:00 answer {\n"state": 1,\n"iccid": "${CARD}"\n}\n`],
    [
      'of a list of objects on lines of their own',
      `2026-11-10 09:00:00 cards: [\n  {"iccid": "${CARD}"},\n]\n`,
    ],
  ])('has its time: %s', async (_, content) => {
    await expectOutcome(oneFile(content), { hits: 1, continued: 1, code: 0 });
    await expectOutcome(oneFile(content), { hits: 0, code: 1 }, { date: '2026-11-11' });
  });

  it.each([
    [
      'whose start has no time',
      `2026-11-10 09:00:00 start\nTraceback (most recent call last):\n${hit('  File "a"')}`,
    ],
    [
      'whose start has a time that is not read',
      `2026-11-10 09:00:00 start\n10 ноя 2026 09:00:00 x\n${hit('  call')}`,
    ],
    ['that begins before the file', hit('  call')],
    ['that is indented and has a date of its own', `${START}  2026-11-11 09:00:00 ${CARD}\n`],
  ])('is undated: %s', async (_, content) => {
    await expectOutcome(oneFile(content), UNDATED);
  });

  it('is found far below the start, over the borders of blocks, up to 64 KiB', async () => {
    const filler = (bytes: number) => `  ${'x'.repeat(98)}\n`.repeat(bytes / 101);
    const before = `2026-11-09 09:00:00 ${'x'.repeat(980)}\n`.repeat(1_048);
    const near = `${before}${START}${filler(40_000)}${hit('  retried')}${hit('  again')}`;
    await expectOutcome(oneFile(near), { hits: 2, continued: 2, code: 0 });
    const far = `${before}${START}${filler(80_000)}${hit('  retried')}`;
    await expectOutcome(oneFile(far), UNDATED);
  });
});

describe('a form that leaves something out is undated', () => {
  it.each([
    ['the year', 'Nov 10 09:00:00 host1 cardpoll[8]:'],
    ['the year, of klog', 'I1110 09:00:00.123456       1 poll.go:12]'],
    ['the day', '09:00:00.123 [p] INFO'],
    ['which number is the month', '10/11/2026 09:00:00'],
    ['which number is the year', '26/11/10 09:00:00 INFO'],
    ['a month that is known', '10-nov.-2026 09:00:00'],
    ['a month in another language', '01/Mai/2026:09:00:00 +0800'],
  ])('%s', async (_, time) => {
    for (const name of ['app.log', 'app-20261110.log'])
      await expectOutcome(oneFile(`2026-11-10 08:00:00 start\n${hit(time)}`, name), UNDATED);
  });

  it('unless the line is JSON behind it, with its own time', async () => {
    const own = `{"level":"info","time":"2026-11-10T01:00:00.000Z","iccid":"${CARD}"}`;
    const before = [
      'Nov 11 09:00:00 host1 cardpoll[8]: ',
      'worker-1  | ',
      '\x1e',
      '[pod/worker-1/cardpoll] ',
    ];
    for (const prefix of before) await expectOutcome(oneFile(`${prefix}${own}\n`), { hits: 1, code: 0 });
  });
});

describe('years and seconds at the edges', () => {
  it.each([
    ['2000-01-02 00:00:00', '2000-01-02'],
    ['2038-01-19 03:14:08 UTC', '2038-01-19'],
    ['2026-12-31T23:59:60+08:00', '2026-12-31'],
  ])('%s is read', async (time, date) => {
    await expectOutcome(oneFile(hit(time)), { hits: 1, code: 0 }, { date });
  });

  it.each(['1970-01-01 00:00:07', '1999-12-30 00:00:00', '2100-01-02 00:00:00', '9999-12-31 00:00:00'])(
    '%s is the time of a clock that is not set',
    async (time) => {
      for (const date of ['2026-11-10', time.slice(0, 10)])
        await expectOutcome(oneFile(hit(time)), UNDATED, { date });
    },
  );
});

it('JSON counts the three kinds', async () => {
  const tree = oneFile(`${hit('2026-11-10 09:00:00')}${hit('  retried')}${hit('  again')}${hit('call')}`);
  const kinds = { dated: 1, continued: 2, undated: 1 };
  expect(reportToJson(await tree.search(DAY))).toMatchObject({ hits: 3, ...kinds });
  expect(reportToJson(await tree.search({ iccid: CARD }))).toMatchObject({ hits: 4, ...kinds });
});

it('a file is not skipped for the times that can be read at its ends', async () => {
  const tree = new LogTree();
  tree.write('app.log', `2026-11-01 09:00:00 start\n${hit('10 ноя 2026 09:00:00')}`, MTIME);
  tree.write('old.log', hit('2026-11-01 09:00:00'), '2026-11-02T02:00:00Z');
  await expectOutcome(tree, UNDATED);
});
