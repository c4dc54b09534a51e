// Every row of the table of formats: its examples mean the instants next to them, in Asia/Shanghai, and docs/log-search.md shows
// the first one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TIME_FORMATS } from '../../../../src/log-search/time/formats.ts';
import { TimeReader } from '../../../../src/log-search/time/time-reader.ts';
import { Zone } from '../../../../src/log-search/time/zone.ts';
import { REPOSITORY } from '../../../support/markdown.ts';

const AT = '2026-11-10T01:00:00.000Z';
const AT_MS = '2026-11-10T01:00:00.123Z';

/** By the name of the row: lines, and the instant of each in Asia/Shanghai. */
const EXAMPLES: Record<string, [line: string, instant: string][]> = {
  'year, month, day: RFC 3339 and its relatives': [
    ['2026-11-10T01:00:00.123456789Z x', AT_MS],
    ['2026-11-10 09:00:00,123 +0800 x', AT_MS],
    ['[INFO] 2026/11/10 09:00:00 x', AT],
    ['2026.11.10 9:00 x', AT],
    ['2026-11-10 01:00:00.123 UTC [41] LOG: x', AT_MS],
    ['2026-11-10 下午5:00:00 x', '2026-11-10T09:00:00.000Z'],
  ],
  'Chinese date': [['2026年11月10日 09:00:00 x', AT]],
  'digits without separators': [
    ['20261110T010000Z x', AT],
    ['20261110 090000 x', AT],
    ['20261110090000123 x', AT_MS],
  ],
  'day, name of the month, year: nginx, Tomcat, RFC 1123, PHP, Redis': [
    ['10.0.0.9 - - [10/Nov/2026:09:00:00 +0800] "GET /x"', AT],
    ['10-Nov-2026 09:00:00.123 INFO [main] x', AT_MS],
    ['Tue, 10 Nov 2026 01:00:00 GMT x', AT],
    ['[10-Nov-2026 02:00:00 Europe/Berlin] PHP Warning: x', AT],
    ['7:M 10 Nov 2026 09:00:00.123 * x', AT_MS],
  ],
  'name of the month, day, time, year: asctime, date, Apache': [
    ['Tue Nov 10 09:00:00 CST 2026 x', AT],
    ['[Tue Nov 10 09:00:00.123456 2026] [core:error] x', AT_MS],
    ['Tue Nov 10 01:00:00 2026 +0000 x', AT],
  ],
  'name of the month, day, year: java.util.logging': [
    ['Nov 10, 2026 9:00:00 AM com.example.Poller poll', AT],
  ],
  'year, name of the month, day: switches': [['2026 Nov 10 09:00:00.123 sw1 x', AT_MS]],
  'epoch in seconds with a fraction, at the start: Squid, Zeek': [
    ['1794272400.123    45 10.0.0.9 TCP_MISS/200 x', AT_MS],
  ],
};

describe.each(TIME_FORMATS)('$name', ({ name }) => {
  it.each(EXAMPLES[name] ?? [])('%s', (line, instant) => {
    const times = new TimeReader(new Zone('Asia/Shanghai'), Date.parse('2026-11-13T00:00:00Z'));
    for (const encoding of ['utf8', 'latin1'] as const) {
      if (encoding === 'latin1' && /[^\x20-\x7e]/.test(line)) continue;
      const bytes = Buffer.from(line, encoding);
      expect(times.read(bytes, 0, bytes.length)).toMatchObject({ ms: Date.parse(instant) });
    }
  });
});

it('the documentation has the rows of the table, in its order', () => {
  const section = readFileSync(join(REPOSITORY, 'docs/log-search.md'), 'utf8').split('\n## Times\n')[1] ?? '';
  const rows = section.split('\n## ')[0]?.match(/^\| (?!form|---).*\|$/gm);
  const expected = TIME_FORMATS.map(({ name }) => {
    const example = (EXAMPLES[name]?.[0]?.[0] ?? '').replaceAll('|', '\\|');
    return `| ${name} | \`${example}\` |`;
  });
  expect(rows).toEqual(expected);
});
