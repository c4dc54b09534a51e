import { describe, expect, it } from 'vitest';
import { TimeReader } from '../../../../src/log-search/time/time-reader.ts';
import { Zone } from '../../../../src/log-search/time/zone.ts';

const SHANGHAI = new Zone('Asia/Shanghai');
const MTIME = Date.parse('2026-11-12T02:00:00Z');

function read(line: string, zone = SHANGHAI): string | null {
  const buf = Buffer.from(`junk\n${line}\n2020-01-01T00:00:00Z`, 'latin1');
  const time = new TimeReader(zone, MTIME).read(buf, 5, 5 + Buffer.byteLength(line, 'latin1'));
  return typeof time === 'object' ? new Date(time.ms).toISOString() : null;
}

const AT = '2026-02-01T02:00:00.000Z';
const SECONDS = 1_769_911_200;

describe('every form of time', () => {
  it.each([
    ['{"time":"2026-02-01T10:00:00+08:00"}', AT],
    ['{"time":"2026-02-01T10:00:00+0800"}', AT],
    ['{"time":"2026-02-01T10:00:00+08"}', AT],
    ['{"time":"2026-02-01T02:00:00Z"}', AT],
    ['{"time":"2026-02-01t02:00:00.5z"}', '2026-02-01T02:00:00.500Z'],
    ['{"time":"2026-02-01T10:00:00.123456789+08:00"}', '2026-02-01T02:00:00.123Z'],
    ['{"time":"2026-02-01T10:00:00"}', AT],
    [`{"ts":${SECONDS}}`, AT],
    [`{"ts":${SECONDS}.25}`, '2026-02-01T02:00:00.250Z'],
    [`{"ts":${SECONDS}.9999999}`, '2026-02-01T02:00:00.999Z'],
    ['{"ts":1.7699112E9}', AT],
    [`{"timestamp":${SECONDS}000}`, AT],
    [`{"timestamp":"${SECONDS}000"}`, AT],
    [`{"@timestamp":${SECONDS}123456}`, '2026-02-01T02:00:00.123Z'],
    [`{"time" : ${SECONDS}999999999}`, '2026-02-01T02:00:00.999Z'],
    [`{"Time":"\\/Date(${SECONDS}000)\\/"}`, AT],
    ['{"date":"2026-02-01","time":"10:00:00"}', AT],
    ['2026-02-01 10:00:00 INFO started', AT],
    ['2026-02-01 10:00:00,123 INFO started', '2026-02-01T02:00:00.123Z'],
    ['2026-02-01 10:00:00.123 INFO started', '2026-02-01T02:00:00.123Z'],
    ['2026-02-01 10:00:00 +0800 INFO started', AT],
    ['2026/02/01 10:00:00 [error] 12#0: gone', AT],
    ['1.2.3.4 - - [01/Feb/2026:10:00:00 +0800] "GET /x HTTP/1.1" 200', AT],
    ['1.2.3.4 - - [01/Feb/2026:02:00:00 +0000] "GET /x?at=2025-01-01T00:00:00Z"', AT],
    [`level=info ts=${SECONDS}.000 msg=x`, AT],
    ['[INFO] [2026-02-01T10:00:00+08:00] x', AT],
    ['\xef\xbb\xbf{"time":"2026-02-01T10:00:00+08:00"}', AT],
    ['2026-02-01T23:59:60+08:00', '2026-02-01T15:59:59.999Z'],
  ])('%s', (line, expected) => {
    expect(read(line)).toBe(expected);
  });

  it.each([
    'no time at all',
    '2026-02-30 10:00:00 no such day',
    '2026-13-01 10:00:00 no such month',
    '2026-02-01 25:00:00 no such hour',
    '12026-02-01 10:00:00 another number',
    '{"time":12,"duration":1769911200}',
    '{"response_time":1769911200}',
    '{"iccid":"8986001769911200123"}',
    '',
  ])('none in %s', (line) => {
    expect(read(line)).toBe(null);
  });
});

describe('the time of the line itself', () => {
  it.each([
    [
      'the top-level field before a nested one',
      '{"a":{"time":"2020-01-01T00:00:00Z"},"time":"2026-02-01T02:00:00Z"}',
    ],
    [
      'the field before a date in a message',
      '{"msg":"until 2030-01-01 00:00:00","time":"2026-02-01T02:00:00Z"}',
    ],
    ['the field behind a long line', `{"msg":"${'x'.repeat(100_000)}","time":"2026-02-01T02:00:00Z"}`],
    [
      'the field behind quotes and braces in strings',
      '{"m":"\\"}{,\\\\","n":[{"ts":1},2],"ts":"2026-02-01T02:00:00Z"}',
    ],
    ['the first date of a text line', '2026-02-01T02:00:00Z paid until 2027-01-01T00:00:00Z'],
    ['the text before a field', '2026-02-01T02:00:00Z {"time":"2027-01-01T00:00:00Z"}'],
    ['a nested field when there is no other', '{"log":{"time":"2026-02-01T02:00:00Z"}}'],
    ['an escaped field', `{"log":"{\\"ts\\":${SECONDS}}"}`],
    [
      'the wrapper of a container log',
      '{"log":"{\\"time\\":1}\\n","stream":"stdout","time":"2026-02-01T02:00:00.000000001Z"}',
    ],
    ['a number only under its name', `{"id":1500000000,"ts":${SECONDS}}`],
  ])('%s', (_, line) => {
    expect(read(line)).toBe(AT);
  });

  it('is not looked for beyond the line', () => {
    expect(read('{"a":1}')).toBe(null);
  });
});

describe('zones', () => {
  it('reads times without offset in the zone', () => {
    expect(read('2026-07-01 12:00:00', new Zone('Europe/Berlin'))).toBe('2026-07-01T10:00:00.000Z');
    expect(read('2026-01-01 12:00:00', new Zone('Europe/Berlin'))).toBe('2026-01-01T11:00:00.000Z');
    expect(read('2026-01-01 12:00:00', new Zone('-03:30'))).toBe('2026-01-01T15:30:00.000Z');
  });
});
