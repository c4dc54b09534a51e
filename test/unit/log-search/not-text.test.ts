// What is not text is named, whatever it is; records that end otherwise than with a newline are read, or named.
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/log-search/report/report.ts';
import { LogTree } from '../../support/log-tree.ts';

const CARD = '89860622330044556677';
const DAY = { iccid: CARD, date: '2026-11-10', tz: 'UTC' };
const LINES = Array.from({ length: 24 }, (_, hour) => {
  const clock = `${String(hour).padStart(2, '0')}:10:00`;
  return [8, 9, 10, 11].map((day) => `2026-11-${String(day).padStart(2, '0')} ${clock} poll ${CARD} ok`);
})
  .flat()
  .sort();
const TEXT = `${LINES.join('\n')}\n`;

async function outcome(content: string | Buffer, options = {}) {
  const tree = new LogTree();
  tree.write('app.log', content, '2026-11-12T02:00:00Z');
  const report = await tree.search({ ...DAY, ...options });
  return { hits: report.hits, notices: report.notices.map(({ code }) => code), code: exitCodeOf(report) };
}

function utf32(text: string): Buffer {
  const bytes = Buffer.alloc(text.length * 4);
  for (let at = 0; at < text.length; at += 1) bytes.writeUInt32BE(text.charCodeAt(at), at * 4);
  return bytes;
}

/** An archive with these members. */
function tar(...members: [name: string, data: Buffer][]): Buffer {
  const blocks = members.flatMap(([name, data]) => {
    const header = Buffer.alloc(512);
    header.write(`${name}\0`, 0);
    header.write('0000644\0', 100);
    header.write(`${data.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write('ustar\x0000', 257);
    return [header, data, Buffer.alloc(-data.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1_024)]);
}

describe('a file that is not text is named', () => {
  it.each([
    ['brotli', brotliCompressSync(TEXT)],
    ['zlib', deflateSync(TEXT)],
    ['deflate', deflateRawSync(TEXT)],
    ['gzip in gzip', gzipSync(gzipSync(TEXT))],
    ['UTF-16', Buffer.from(TEXT, 'utf16le')],
    ['UTF-16 in gzip', gzipSync(Buffer.from(TEXT, 'utf16le'))],
    ['UTF-32', utf32(TEXT)],
    [
      'encrypted, with a head of text',
      Buffer.concat([Buffer.from('age-encryption.org/v1\n'), deflateRawSync(TEXT)]),
    ],
  ])('%s', async (_, content) => {
    const named = { hits: 0, notices: ['not_searched'], code: 2 };
    expect(await outcome(content)).toEqual(named);
    expect(await outcome(content, { date: undefined })).toEqual(named);
  });

  it.each([
    ['with colours', TEXT.replaceAll('poll', '\x1b[31mpoll\x1b[0m')],
    ['in GBK', Buffer.concat([Buffer.from(TEXT), Buffer.from('cda3bbfacab5c3fb0a', 'hex')])],
    ['in UTF-8', `${TEXT}2026-11-12 00:00:00 实名检查完成\n`],
    ['with form feeds', TEXT.replaceAll('ok', '\f')],
  ])('unlike text %s', async (_, content) => {
    expect(await outcome(content)).toEqual({ hits: 24, notices: [], code: 0 });
  });
});

describe('records that no newline ends', () => {
  it.each([
    ['carriage returns', '\r'],
    ['NUL', '\0'],
  ])('are read when they end with %s', async (_, end) => {
    const content = LINES.map((line) => `${line}${end}`).join('');
    expect(await outcome(content)).toEqual({ hits: 24, notices: [], code: 0 });
    expect(await outcome(gzipSync(content), { date: undefined })).toEqual({ hits: 96, notices: [], code: 0 });
  });

  it('are named when a count is in front of each', async () => {
    const content = LINES.map((line) => `<34>1 ${line}`)
      .map((line) => `${line.length} ${line}`)
      .join('');
    expect(await outcome(content, { date: undefined })).toMatchObject({ code: 2 });
    expect((await outcome(content, { date: undefined })).notices).toContain('several_records');
  });

  it.each([
    ['a list', (records: object[]) => records],
    ['a list in an object', (records: object[]) => ({ Records: records })],
  ])('are named when they are %s in one line', async (_, wrap) => {
    const records = LINES.map((line) => ({
      eventTime: `${line.slice(0, 10)}T${line.slice(11, 19)}Z`,
      iccid: CARD,
    }));
    const content = JSON.stringify(wrap(records));
    expect(await outcome(content)).toMatchObject({ hits: 0, code: 2 });
    expect(await outcome(content, { date: undefined })).toMatchObject({
      hits: 1,
      notices: ['several_records'],
    });
  });
});

describe('a tar archive', () => {
  const member = (day: number): [string, Buffer] => {
    const lines = LINES.filter((line) => line.startsWith(`2026-11-${String(day).padStart(2, '0')}`));
    return [`logs/app.log.${day}`, Buffer.from(`${lines.join('\n')}\n`)];
  };

  it('has the first line of each member', async () => {
    const archive = tar(member(9), member(10), member(11));
    for (const content of [archive, gzipSync(archive)])
      for (const date of ['2026-11-09', '2026-11-10', '2026-11-11'])
        expect(await outcome(content, { date })).toEqual({ hits: 24, notices: [], code: 0 });
  });

  it('names members that are compressed, and is searched', async () => {
    const archive = tar(member(10), ['logs/old.gz', gzipSync(TEXT)], member(11));
    expect(await outcome(gzipSync(archive))).toEqual({ hits: 24, notices: ['not_searched'], code: 2 });
  });
});

it('a cut character spoils itself only', async () => {
  const tree = new LogTree();
  const line = Buffer.concat([
    Buffer.from(`iccid=${CARD} cut=`),
    Buffer.from([0xe5, 0xbc]),
    Buffer.from(' name=张三\n'),
  ]);
  tree.write('app.log', line);
  const { samples } = await tree.search({ iccid: CARD });
  const { textOf } = await import('../../../src/log-search/model.ts');
  expect(samples.map(({ line }) => textOf(line))).toEqual([`iccid=${CARD} cut=\uFFFD name=张三`]);
});
