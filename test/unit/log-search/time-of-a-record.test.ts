// Times that do not belong to the line above or below them: those of records over several lines, and those of a file whose head
// says in which zone they are. What does not belong to the line is never its time.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/log-search/report/report.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '89860622330044556677';
/** Half a minute before and after the midnights of 2026-11-10 in Shanghai. */
const INSTANTS = [
  '2026-11-09T15:59:30Z',
  '2026-11-09T16:00:30Z',
  '2026-11-10T15:59:30Z',
  '2026-11-10T16:00:30Z',
];
const UNKNOWN = { hits: 0, undated: 4, code: 2 };

async function counted(content: string | Buffer, name = 'app.log', options = {}) {
  const tree = new LogTree();
  tree.write(name, content, '2026-11-12T02:00:00Z');
  const day = { iccid: CARD, date: '2026-11-10', tz: 'Asia/Shanghai' };
  const report = await tree.search({ ...day, ...options });
  return { hits: report.hits, undated: report.undated, code: exitCodeOf(report) };
}

const RECORDS: Readonly<Record<string, (time: string) => string>> = {
  'indented JSON, the time above': (time) => `{\n  "timestamp": "${time}",\n  "iccid": "${CARD}"\n}\n`,
  'the card in a part of the record': (time) =>
    `{\n  "time": "${time}",\n  "sim": {\n    "iccid": "${CARD}"\n  }\n}\n`,
  'another part between them, with a time of its own': (time) =>
    `{\n  "ts": "${time}",\n  "plan": {\n    "time": "2024-01-01T00:00:00Z"\n  },\n  "iccid": "${CARD}"\n}\n`,
  'a date that is no time of the record': (time) =>
    `{\n  "time": "${time}",\n  "createdAt": "2024-01-01 00:00:00",\n  "iccid": "${CARD}"\n}\n`,
  'epoch milliseconds': (time) => `{\n\t"ts": ${Date.parse(time)},\n\t"iccid": "${CARD}"\n}\n`,
  'an item of a YAML list that begins with its time': (time) => `- time: ${time}\n  iccid: "${CARD}"\n`,
  'below a dated line': (time) =>
    `${time} answer:\n{\n  "iccid": "${CARD}",\n  "validTo": "2024-01-01 00:00:00"\n}\n`,
  'its own line': (time) => `{\n  "note": "x", "iccid": "${CARD}", "time": "${time}"\n}\n`,
};

const TIME_BELOW: Readonly<Record<string, (time: string) => string>> = {
  'indented JSON': (time) => `{\n  "iccid": "${CARD}",\n  "timestamp": "${time}"\n}\n`,
  'records of a list': (time) => `  {\n    "iccid": "${CARD}",\n    "time": "${time}"\n  },\n`,
  YAML: (time) => `- event: polled\n  iccid: "${CARD}"\n  time: ${time}\n`,
  'a time of day': (time) => `{\n  "iccid": "${CARD}",\n  "time": "${time.slice(11, 19)}"\n}\n`,
};

describe('a record over several lines', () => {
  it.each(Object.entries(RECORDS))('has its own time: %s', async (_, form) => {
    const content = INSTANTS.map(form).join('');
    expect(await counted(content)).toEqual({ hits: 2, undated: 0, code: 0 });
    expect(await counted(gzipSync(content), 'app.log.gz')).toEqual({ hits: 2, undated: 0, code: 0 });
  });

  it.each(Object.entries(TIME_BELOW))('has not the time of the record before it: %s', async (_, form) => {
    expect(await counted(INSTANTS.map(form).join(''))).toEqual(UNKNOWN);
  });

  it('does not give its time to a record without one', async () => {
    const [first = ''] = INSTANTS;
    const content = `{\n  "time": "${first}",\n  "iccid": "${CARD}"\n}\n{\n  "iccid": "${CARD}"\n}\n`;
    expect(await counted(content, 'app.log', { date: '2026-11-09' })).toEqual({
      hits: 1,
      undated: 1,
      code: 2,
    });
  });

  it('is not the end of a file that is searched in blocks', async () => {
    const filler = `{\n  "note": "${'x'.repeat(4_000)}"\n}\n`.repeat(300);
    const [first = '', second = ''] = INSTANTS;
    const record = `{\n  "time": "${second}",\n  "iccid": "${CARD}"\n}\n`;
    const content = `{\n  "time": "${first}"\n}\n${filler}${record}${filler}${record}`;
    expect(await counted(content)).toEqual({ hits: 2, undated: 0, code: 0 });
  });
});

const lines = (between: string) =>
  INSTANTS.map(
    (time) => `${time.slice(0, 10)}${between}${time.slice(11, 19)}${between}10.0.0.1 ${CARD}\n`,
  ).join('');

describe('a log in the extended format of W3C', () => {
  it.each([
    [
      'IIS',
      `#Software: IIS 10.0\r\n#Version: 1.0\r\n#Date: 2026-11-09 15:00:00\r\n#Fields: date time c-ip\r\n${lines(' ')}`,
    ],
    ['CloudFront', `#Version: 1.0\n#Fields: date time x-edge-location sc-bytes\n${lines('\t')}`],
  ])('is in UTC: %s', async (_, content) => {
    for (const date of ['2026-11-09', '2026-11-11']) {
      for (const prune of [true, false]) {
        const options = { date, prune };
        expect(await counted(content, 'x.log', options)).toEqual({ hits: 1, undated: 0, code: 0 });
        expect(await counted(gzipSync(content), 'x.gz', options)).toEqual({ hits: 1, undated: 0, code: 0 });
      }
    }
  });

  it.each([
    ['Windows Firewall', `#Version: 1.5\n#Time Format: Local\n#Fields: date time action\n`],
    ['a comment', `#Fields: see the manual\n`],
  ])('is in the zone of the search where it says so, or is none: %s', async (_, head) => {
    expect(await counted(head + lines(' '), 'x.log', { date: '2026-11-09' })).toMatchObject({
      hits: 2,
      code: 0,
    });
  });
});
