// Every row of the table of formats: its examples mean the instants next to them, in Asia/Shanghai, and docs/log-search.md shows
// them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TIME_FORMATS } from '../../../../src/log-search/time/formats.ts';
import { TimeReader } from '../../../../src/log-search/time/time-reader.ts';
import { Zone } from '../../../../src/log-search/time/zone.ts';
import { REPOSITORY } from '../../../support/markdown.ts';

describe.each(TIME_FORMATS)('$name', ({ examples }) => {
  it.each(examples)('%s', (line, instant) => {
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
  const expected = TIME_FORMATS.map(({ name, examples }) => {
    const example = (examples[0]?.[0] ?? '').replaceAll('|', '\\|');
    return `| ${name} | \`${example}\` |`;
  });
  expect(rows).toEqual(expected);
});
