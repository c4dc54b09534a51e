// A time is read whole or not at all: its zone, its half of the day, its year, wherever they are written. Numbers are times under
// a key that names one, and within bounds.
import { describe, expect, it } from 'vitest';
import { TimeReader } from '../../../src/log-search/time/time-reader.ts';
import { Zone } from '../../../src/log-search/time/zone.ts';

const CARD = '89860622330044556677';
const MTIME = Date.parse('2026-11-12T02:00:00Z');

/** What a line says, in Asia/Shanghai. */
function read(line: string, head?: string): string | undefined {
  const times = new TimeReader(new Zone('Asia/Shanghai'), MTIME);
  if (head !== undefined) times.begin(Buffer.from(head));
  const bytes = Buffer.from(line);
  const time = times.read(bytes, 0, bytes.length);
  return typeof time === 'object' ? new Date(time.ms).toISOString().replace('.000Z', 'Z') : time;
}

describe('what follows a time belongs to it', () => {
  it.each([
    ['2026-11-10 13:30:00.5 -03 [41] LOG:  x', '2026-11-10T16:30:00.500Z'],
    ['2026-11-10 23:30:00 +03 x', '2026-11-10T20:30:00Z'],
    ['2026-11-10 23:30:00 +0545 x', '2026-11-10T17:45:00Z'],
    ['2026-11-10T13:30:00\u221203:00 x', '2026-11-10T16:30:00Z'],
    ['2026-11-10T17:00:00,123 ZULU x', '2026-11-10T17:00:00.123Z'],
    ['2026-11-10 17:00:00 Z x', '2026-11-10T17:00:00Z'],
    ['{"time":"2026-11-10T13:30:00\\u002B02:00"}', '2026-11-10T11:30:00Z'],
    ['{"ts":"2026-11-10 13:30:00 GMT\\u002b0200"}', '2026-11-10T11:30:00Z'],
    ['2026-11-10 17:00:00 utc x', '2026-11-10T17:00:00Z'],
    ['2026-11-10 17:00:00 UTC+8 x', '2026-11-10T09:00:00Z'],
    ['2026-11-10 17:00:00 UTC +8 x', '2026-11-10T09:00:00Z'],
    ['2026-11-10T13:30:00\u201303:00 x', '2026-11-10T16:30:00Z'],
    ['Tue Nov 10 23:30:00 GMT+07:00 2026 x', '2026-11-10T16:30:00Z'],
    ['Tue Nov 10 23:30:00 +0700 2026 x', '2026-11-10T16:30:00Z'],
    ['{"time":"2026-11-10 18:30:00","offset":"+07:00"}', '2026-11-10T11:30:00Z'],
    ['{"offset":"12345","time":"2026-11-10 18:30:00"}', '2026-11-10T10:30:00Z'],
    ['2026-11-10 17:00:00 Europe/Berlin x', '2026-11-10T16:00:00Z'],
    ['2026-11-10T17:00:00Z[Etc/UTC] x', '2026-11-10T17:00:00Z'],
    ['2026-11-10 23:30:00 WIB x', '2026-11-10T16:30:00Z'],
    ['Tue Nov 10 17:00:00 2026 +0000 x', '2026-11-10T17:00:00Z'],
    ['Tue Nov 10 17:00:00 2026 UTC x', '2026-11-10T17:00:00Z'],
    ['Mon Nov 10 23:30:00 WIB 2025 x', '2025-11-10T16:30:00Z'],
    ['2025 Nov 10 09:00:00 sw1 x', '2025-11-10T01:00:00Z'],
    ['2026-11-13 9:15:00 p. m. x', '2026-11-13T13:15:00Z'],
    ['2026-11-13 9:15:00 p.\u00a0m. x', '2026-11-13T13:15:00Z'],
    ['2026-11-13 12:15:00 AM x', '2026-11-12T16:15:00Z'],
    ['device="x" date=2026-11-10 time=18:30:00 timezone="CET" url="/x"', '2026-11-10T17:30:00Z'],
    ['date=2026-11-10 time=18:30:00 devname="f" tz="+0100" url="/x"', '2026-11-10T17:30:00Z'],
    ['{"time":"2026-11-10 18:30:00","timezone":"Asia/Jakarta"}', '2026-11-10T11:30:00Z'],
  ])('%s', (line, instant) => {
    expect(read(line)).toBe(instant);
  });

  it.each([
    ['a zone that is not known', '2026-11-10 23:30:00 AKST x'],
    ['a zone that is not known, without a blank', '2026-11-10T23:30:00FOO x'],
    ['a zone that is not known, before the year', 'Tue Nov 10 23:30:00 PKT 2026 x'],
    ['a zone with meanings that are not ours', '2026-11-10 23:30:00 EST x'],
    ['an offset with a point', '2026-11-10 23:30:00 +05.30 x'],
    ['half of a day in Czech', '2026-11-13 9:15:00 odp. x'],
    ['a zone in words', 'Tue Nov 10 2026 23:30:00 (Pacific Standard Time) x'],
    ['an offset that no zone has', '2026-11-10 23:30:00 +8613800001111 x'],
    ['half of a day in Greek', '2026-11-13 9:15:00 μ.μ. x'],
    ['half of a day in Persian', '2026-11-13 9:15:00 ب.ظ x'],
    ['half of a day in Hungarian', '2026-11-13 9:15:00 du. x'],
    ['half of a day in Japanese', '2026-11-13 9:15:00 午後 x'],
    ['half of a day in Korean', '2026-11-13 9:15:00 오후 x'],
    ['a sign in an escape', '{"time":"2026-11-10T13:30:00\\u221205:00"}'],
    ['a zone in a field that is not known', '{"time":"2026-11-10 18:30:00","utc_offset":"480"}'],
    ['a zone in a field of text', `time="2026-11-10 18:30:00" tz=MARS iccid=${CARD}`],
  ])('and makes it unreadable: %s', (_, line) => {
    expect(read(line)).toBe('unreadable');
  });

  it.each(['INFO', 'GET /x', '[main]', 'GW:', '实名检查完成', 'com.x.Poller', '- x', 'in a call', '--- [p]'])(
    'but not what begins the message: %s',
    (text) => {
      expect(read(`2026-11-10 09:00:00 ${text}`)).toBe('2026-11-10T01:00:00Z');
    },
  );
});

describe('a number is a time', () => {
  it.each([
    ['in seconds', '{"ts":1794272400.5}', '2026-11-10T01:00:00.500Z'],
    ['in milliseconds', '{"time":1794272400000}', '2026-11-10T01:00:00Z'],
    ['as digits of a date', '{"timestamp":"20261110090000"}', '2026-11-10T01:00:00Z'],
    [
      'as digits of a date in logfmt',
      'level=info timestamp=20261110090000123 x=1',
      '2026-11-10T01:00:00.123Z',
    ],
    ['at the start, with a fraction', '1794272400.123    45 10.0.0.9 x', '2026-11-10T01:00:00.123Z'],
  ])('%s', (_, line, instant) => {
    expect(read(line)).toBe(instant);
  });

  it.each([
    ['ticks since the year 1', '{"Timestamp":639198324000000000}'],
    ['FILETIME', '{"timestamp":134387460000000000}'],
    ['microseconds since 1601', '{"time":13438746000000000}'],
    ['seconds since 2001', '{"ts":815965200}'],
    ['nanoseconds since the boot', '{"ts":5230045123456}'],
    ['later than the file', '{"ts":1794700000}'],
    ['minutes', '{"time":"202611100900"}'],
  ])('unless it is none: %s', (_, line) => {
    expect(read(line)).toBe('unreadable');
  });

  it.each([
    ['MSISDN', `3125550100 ${CARD}`],
    ['a number of the Internet of Things', `1440012345678 ${CARD}`],
    ['IMEISV', `3534560700001234;${CARD};x`],
    ['an order', `1612345678 order for ${CARD}`],
    ['a number under another key', `{"order":1794272400,"iccid":"${CARD}"}`],
    ['a value of another key of text', `id=1794272400 iccid=${CARD}`],
  ])('unless nothing says so: %s', (_, line) => {
    expect(read(line)).toBeUndefined();
  });

  it('gives way to a date behind it', () => {
    expect(read(`1612345678 2026-11-10 09:00:00 INFO order for ${CARD}`)).toBe('2026-11-10T01:00:00Z');
  });
});

describe('a date of something else is none', () => {
  it.each([
    [`activated=2024-01-05 10:00:00 iccid=${CARD}`],
    [`expire: 2027-01-05 10:00:00 iccid=${CARD}`],
    [`birthday 1990-01-05 10:00:00 of the owner of ${CARD}`],
    [`package valid until 2027-01-05 10:00:00, ${CARD}`],
    [`created="2024-01-05 10:00:00" iccid=${CARD}`],
    [`10:00:00 x 2024-01-05 10:00:00 ${CARD}`],
    [`${CARD},2024-01-05 10:00:00,2026-11-10 09:00:00,data`],
    [`2024-01-05 10:00:00,${CARD},2026-11-10 09:00:00,data`],
    [`${CARD}|2024-01-05 10:00:00|2026-11-10 09:00:00|data`],
    [`${CARD}\t2024-01-05 10:00:00\t2026-11-10 09:00:00\tdata`],
    [`h - - [01/Mai/2026:02:00] 2024-01-05 10:00:00 ${CARD}`],
  ])('%s', (line) => {
    expect(read(line)).toBe('unreadable');
  });

  it.each([
    ['{"activatedAt":"2024-01-05 10:00:00","iccid":"1"}', undefined],
    ['{"birth":"1990-01-05","valid":"2027-01-05 10:00:00"}', undefined],
    ['{"card":{"time":"2024-01-05 10:00:00"},"call":{"time":"2026-11-10 09:00:00"}}', 'several'],
    ['[{"time":"2024-01-05 10:00:00"},{"time":"2026-11-10 09:00:00"}]', 'several'],
  ])('%s', (line, expected) => {
    expect(read(line)).toBe(expected);
  });
});

describe('the first line of a file', () => {
  it('names the column with the time', () => {
    const head = 'iccid,activated_at,event_time,type\n';
    const line = `${CARD},2024-01-05 10:00:00,2026-11-10 09:00:00,data`;
    expect(read(line, head)).toBe('2026-11-10T01:00:00Z');
    expect(read(line.replaceAll(',', ';'), head.replaceAll(',', ';'))).toBe('2026-11-10T01:00:00Z');
    expect(read(`2024-01-05 10:00:00,${CARD},data`, 'activated_at,iccid,type\n')).toBe('unreadable');
  });

  it.each([
    ['#Version: 1.0\n#Fields: date time c-ip\n', '2026-11-10T09:00:00Z'],
    ['#GMT-Offset: -0800\n#Fields: date time c-ip\n', '2026-11-10T17:00:00Z'],
    ['#Time Format: Local\n#Fields: date time action\n', '2026-11-10T01:00:00Z'],
  ])('says the zone: %j', (head, instant) => {
    expect(read('2026-11-10 09:00:00 10.0.0.1', head)).toBe(instant);
  });
});
