// Lines that a container runtime or journald wrote otherwise than they were logged: found once, with the time of their first
// part, wherever the number or the interface lies.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../../src/log-search/report/report.ts';
import { LogTree } from '../../../support/log-tree.ts';

const CARD = '89860622330044556677';
const DAY = { iccid: CARD, date: '2026-11-10', tz: 'Asia/Shanghai' };

const cri = (tag: string, text: string, stream = 'stdout', time = '2026-11-10T09:01:00.000000000+08:00') =>
  `${time} ${stream} ${tag} ${text}\n`;
const docker = (log: string, stream = 'stdout', time = '2026-11-10T01:01:00.000000001Z') =>
  `${JSON.stringify({ log, stream, time })}\n`;

async function search(content: string | Buffer, options = {}) {
  const tree = new LogTree();
  tree.write('0.log', content, '2026-11-12T02:00:00Z');
  return tree.search({ ...DAY, ...options });
}

const line = `{"pad":"${'x'.repeat(8_100)}","iccid":"${CARD}","cardStatus":"1"}`;
const inNumber = line.indexOf(CARD) + 9;
const inField = line.indexOf('cardStatus') + 4;

describe.each([
  ['CRI', (text: string, isLast: boolean) => cri(isLast ? 'F' : 'P', text)],
  ['Docker', (text: string, isLast: boolean) => docker(isLast ? `${text}\n` : text)],
])('parts of %s', (_, part) => {
  const parts = (...cuts: number[]) =>
    [0, ...cuts].map((from, nth) => part(line.slice(from, cuts[nth]), nth === cuts.length)).join('');

  it.each([[inNumber], [inField], [inNumber, inField], [inNumber, inNumber + 3, inField], [20]])(
    'cut at %j',
    async (...cuts) => {
      for (const content of [parts(...cuts), gzipSync(parts(...cuts)), parts(...cuts).repeat(300)]) {
        const report = await search(content, { interface: 'card_status' });
        expect(report.hits).toBe(content.length > 1_000_000 ? 300 : 1);
        expect(exitCodeOf(report)).toBe(0);
      }
    },
  );

  it('lines that never end are searched', async () => {
    const report = await search(
      `${parts(inNumber).split('\n').slice(0, 1).join('')}\n${part(line.slice(inNumber), false)}`,
    );
    expect([report.hits, exitCodeOf(report)]).toEqual([1, 0]);
  });

  it('lines of 40 MB are searched MiB by MiB, in little memory, with a notice', async () => {
    const before = process.memoryUsage().rss;
    const many = part('y'.repeat(16_000), false).repeat(2_600);
    const report = await search(
      gzipSync(many + part(line.slice(0, inNumber), false) + part(line.slice(inNumber), true)),
    );
    expect(report.hits).toBe(1);
    expect(report.notices).toMatchObject([{ code: 'long_line' }]);
    expect(exitCodeOf(report)).toBe(2);
    expect(process.memoryUsage().rss - before).toBeLessThan(300e6);
  });
});

it('the streams of a container are not mixed', async () => {
  const [head, tail] = [line.slice(0, inNumber), line.slice(inNumber)];
  const content =
    cri('P', head) +
    cri('F', `other ${CARD}`, 'stderr') +
    cri('P', tail.slice(0, 3), 'stderr') +
    cri('F', tail) +
    cri('F', 'end', 'stderr');
  expect((await search(content)).hits).toBe(2);
});

it('the first part has the time of the line', async () => {
  const content =
    cri('P', line.slice(0, inNumber), 'stdout', '2026-11-10T23:59:59.9+08:00') +
    cri('F', line.slice(inNumber), 'stdout', '2026-11-11T00:00:00.1+08:00');
  const report = await search(content);
  expect(report).toMatchObject({ hits: 1, firstMs: Date.parse('2026-11-10T15:59:59.900Z') });
});

it('a line without an end, in a file of containers, is searched', async () => {
  const content = `${cri('F', 'start')}2026-11-10T09:01:00.0+08:00 stdout F ${'x'.repeat(5_000_000)} ${CARD} ${'x'.repeat(5_000_000)}\n${cri('P', 'a')}${cri('F', CARD)}`;
  expect((await search(content)).hits).toBe(2);
});

it('a message that journald wrote as bytes is text', async () => {
  const bytes = [...Buffer.from(`\x1b[31m POST /gw/card/stop iccid=${CARD} 停机`)];
  const entry = (message: string) =>
    `{"__REALTIME_TIMESTAMP":"1794272400000000","MESSAGE":${message},"_PID":"1"}\n`;
  for (const message of [JSON.stringify(bytes), `[ ${bytes.join(', ')} ]`]) {
    const report = await search(entry('"start"') + entry(message), { interface: 'stop', all: true });
    expect(report.hits).toBe(1);
    expect([...report.records()][0]?.line.toString()).toContain(`iccid=${CARD} 停机`);
  }
});

it.each(['utf16le', 'utf16be', 'with a mark'])(
  'text in UTF-16 (%s) is named as not searched',
  async (form) => {
    const text = Buffer.from(
      `${form === 'with a mark' ? '\ufeff' : ''}2026-11-10 09:00:00 iccid=${CARD} 停机\r\n`.repeat(3),
      'utf16le',
    );
    const content = form === 'utf16be' ? text.swap16() : text;
    for (const file of [content, gzipSync(content)]) {
      const report = await search(file);
      expect(report.notices).toMatchObject([{ code: 'not_searched' }]);
      expect(exitCodeOf(report)).toBe(2);
    }
  },
);
