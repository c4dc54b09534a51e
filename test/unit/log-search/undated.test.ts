// A search with a window never counts, and never leaves out silently, a line whose time it does not know.
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/log-search/report/report.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '89860622330044556677';
const DAY = { iccid: CARD, date: '2026-11-10', tz: 'Asia/Shanghai' };
const hit = (before: string, after = '') => `${before} iccid=${CARD}${after}\n`;

interface Outcome {
  readonly hits: number;
  readonly undated?: number;
  readonly ambiguous?: number;
  readonly datedByName?: number;
  readonly code: number;
}

async function expectOutcome(tree: LogTree, expected: Outcome, options = {}): Promise<void> {
  const report = await tree.search({ ...DAY, ...options });
  const { hits, undated, ambiguous, datedByName } = report;
  expect({ hits, undated, ambiguous, datedByName, code: exitCodeOf(report) }).toEqual({
    ...{ undated: 0, ambiguous: 0, datedByName: 0 },
    ...expected,
  });
}

function oneFile(content: string, name = 'app.log', mtime = '2026-11-12T02:00:00Z'): LogTree {
  const tree = new LogTree();
  tree.write(name, content, mtime);
  return tree;
}

describe('a line without a time', () => {
  it('in a file without any is undated, whenever the file was written', async () => {
    for (const mtime of ['2026-11-10T04:00:00Z', '2020-01-01T00:00:00Z', '2027-01-01T00:00:00Z']) {
      await expectOutcome(oneFile(hit('call') + hit('call'), 'app.log', mtime), {
        hits: 0,
        undated: 2,
        code: 2,
      });
    }
  });

  it('counts without a window, and has no time', async () => {
    const report = await oneFile(hit('call')).search({ iccid: CARD, all: true });
    expect(report).toMatchObject({ hits: 1, undated: 0, firstMs: null, lastMs: null });
    expect([...report.records()]).toMatchObject([{ timeMs: Number.POSITIVE_INFINITY }]);
    expect(exitCodeOf(report)).toBe(0);
  });

  it('a line of another interface is not undated', async () => {
    const tree = oneFile(hit('call', ' used=1') + hit('call', ' realStatus=1'));
    await expectOutcome(tree, { hits: 0, undated: 1, code: 2 }, { interface: 'flow' });
  });

  it('has the time of the line before it, not of a date in its message', async () => {
    const text = `2026-11-10 09:00:00 start\n${hit('  retried', ' activated 2024-03-01 08:00:00')}`;
    await expectOutcome(oneFile(text), { hits: 1, code: 0 });
  });

  it('behind one whose time cannot be read is undated too', async () => {
    const text = `2026-11-10 09:00:00 start\n10 ноя 2026 09:00:00 x\n${hit('  call')}`;
    await expectOutcome(oneFile(text), { hits: 0, undated: 1, code: 2 });
  });
});

describe('a day in the name', () => {
  it.each(['app-2026-11-10.log', 'app.20261110', 'gw_2026.11.10_1.log'])(
    'dates a file without times: %s',
    async (name) => {
      await expectOutcome(oneFile(hit('call'), name), { hits: 1, datedByName: 1, code: 0 });
      await expectOutcome(oneFile(hit('call'), name), { hits: 0, code: 1 }, { date: '2026-11-09' });
    },
  );

  it('does not where there are two, nor for a part of the day', async () => {
    const two = oneFile(hit('call'), 'app-2026-11-09-to-2026-11-10.log');
    await expectOutcome(two, { hits: 0, undated: 1, code: 2 });
    const noon = { date: undefined, since: '2026-11-10 12:00', until: '2026-11-10 13:00' };
    await expectOutcome(oneFile(hit('call'), 'app-2026-11-10.log'), { hits: 0, undated: 1, code: 2 }, noon);
  });

  it('is the day of times of day', async () => {
    const hours = Array.from({ length: 24 }, (_, hour) =>
      hit(`${String(hour).padStart(2, '0')}:30:00.123 [p]`),
    );
    await expectOutcome(oneFile(hours.join(''), 'w.2026-11-10.log'), { hits: 24, datedByName: 24, code: 0 });
    await expectOutcome(oneFile(hours.join(''), 'w.log'), { hits: 0, undated: 24, code: 2 });
  });
});

describe('a time of day', () => {
  it('has the day of the dated line before it, and of the next day behind midnight', async () => {
    const text = `2026-11-09 22:00:00 start\n${hit('23:30:00')}23:59:00 x\n${hit('00:10:00')}${hit('00:05:00')}`;
    await expectOutcome(oneFile(text), { hits: 2, code: 0 });
    await expectOutcome(oneFile(text), { hits: 1, code: 0 }, { date: '2026-11-09' });
  });

  it('has it far behind that line too', async () => {
    const filler = Array.from(
      { length: 40_000 },
      (_, n) => `23:${String(10 + Math.floor(n / 1_000)).padStart(2, '0')}:00 ${'x'.repeat(60)}\n`,
    );
    await expectOutcome(oneFile(`2026-11-09 22:00:00 start\n${filler.join('')}${hit('00:10:00')}`), {
      hits: 1,
      code: 0,
    });
  });
});

describe('the year of a line without one', () => {
  const turn = hit('Dec 31 23:00:00 h') + hit('Jan  1 01:00:00 h');
  it('is the latest that is not after the last writing', async () => {
    const tree = oneFile(turn, 'messages', '2027-01-02T00:00:00Z');
    await expectOutcome(tree, { hits: 1, code: 0 }, { date: '2026-12-31' });
    await expectOutcome(tree, { hits: 1, code: 0 }, { date: '2027-01-01' });
  });

  it('is near the day of the name, and near a line with a year', async () => {
    const late = '2030-06-01T00:00:00Z';
    await expectOutcome(
      oneFile(turn, 'messages-20270103', late),
      { hits: 1, code: 0 },
      { date: '2026-12-31' },
    );
    const dated = oneFile(`2026-12-31 20:00:00 start\n${turn}`, 'messages', late);
    await expectOutcome(dated, { hits: 1, code: 0 }, { date: '2027-01-01' });
  });

  it('has the day that only leap years have', async () => {
    await expectOutcome(oneFile(hit('Feb 29 09:00:00 h')), { hits: 1, code: 0 }, { date: '2024-02-29' });
  });
});

describe('day and month', () => {
  it('are distinguished by any line of the file', async () => {
    const filler = `10/11/2026 10:00:00 ${'x'.repeat(900)}\n`.repeat(3_000);
    await expectOutcome(oneFile(`${hit('10/11/2026 09:00:00') + filler}13/11/2026 09:00:00 x\n`), {
      hits: 1,
      code: 0,
    });
    await expectOutcome(oneFile(`${hit('11.10.2026 09:00:00')}11.13.2026 09:00:00 x\n`), {
      hits: 1,
      code: 0,
    });
  });

  it('are not where the file does not say, or contradicts itself', async () => {
    await expectOutcome(oneFile(hit('10/11/2026 09:00:00')), { hits: 0, undated: 1, code: 2 });
    const both = `${hit('13/11/2026 09:00:00')}${hit('11/13/2026 09:00:00')}${hit('10/11/2026 09:00:00')}`;
    await expectOutcome(oneFile(both), { hits: 2, undated: 1, code: 2 }, { date: '2026-11-13' });
  });
});

describe('a zone', () => {
  it('counts as it is written', async () => {
    for (const time of [
      '2026-11-09 16:30:00 UTC',
      'Mon Nov  9 11:30:00 2026',
      '[09-Nov-2026 17:30:00 Europe/Berlin]',
      '2026-11-09 08:30:00 GMT-08:00',
    ]) {
      const isZoneless = time.startsWith('Mon');
      await expectOutcome(oneFile(hit(time)), isZoneless ? { hits: 0, code: 1 } : { hits: 1, code: 0 });
    }
  });

  it('with several meanings is that of the search if that is one of them', async () => {
    await expectOutcome(oneFile(hit('2026-11-10 09:00:00 CST')), { hits: 1, ambiguous: 1, code: 0 });
    await expectOutcome(oneFile(hit('2026-11-10 09:00:00 EST')), { hits: 1, ambiguous: 1, code: 2 });
  });
});

describe('years and seconds at the edges', () => {
  it.each([
    ['1970-01-02 00:00:00', '1970-01-02'],
    ['{"ts":2147483648,', '2038-01-19'],
    ['2038-01-19 03:14:08 UTC', '2038-01-19'],
    ['2026-12-31T23:59:60+08:00', '2026-12-31'],
  ])('%s', async (time, date) => {
    const line = time.startsWith('{') ? `${time}"iccid":"${CARD}"}\n` : hit(time);
    await expectOutcome(oneFile(line), { hits: 1, code: 0 }, { date });
  });
});

it('a file is not skipped for the times that can be read at its ends', async () => {
  const tree = new LogTree();
  tree.write('app.log', `2026-11-01 09:00:00 start\n${hit('10 ноя 2026 09:00:00')}`, '2026-11-12T02:00:00Z');
  tree.write('old.log', hit('2026-11-01 09:00:00'), '2026-11-02T02:00:00Z');
  await expectOutcome(tree, { hits: 0, undated: 1, code: 2 });
});
