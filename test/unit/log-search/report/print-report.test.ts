// The summary that people read.
import { expect, it } from 'vitest';
import { printReport } from '../../../../src/log-search/report/print-report.ts';
import { LogTree } from '../../../support/log-tree.ts';

const CARD = '8986001234567890123';

it.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 KB'],
  [999_949, '999.9 KB'],
  [999_950, '1.0 MB'],
  [999_999, '1.0 MB'],
  [999_999_999_999, '1.0 TB'],
  [5e15, '5000.0 TB'],
])('%i bytes are %s', async (read, shown) => {
  const report = await new LogTree().search({ iccid: CARD });
  const options = { format: 'text', all: false, isShown: false } as const;
  const text = [...printReport({ ...report, bytes: { ...report.bytes, read } }, options)].join('');
  expect(text).toContain(`  ${shown} read, `);
});

it('shows hits that no request has next to the requests', async () => {
  const tree = new LogTree();
  tree.write('worker.log', `2026-02-01T10:00:00Z iccid=${CARD} polled\n`);
  tree.write(
    'access.log',
    `2026-02-01T10:00:01Z iccid=${CARD} req_id=r1 GET\n2026-02-01T10:00:02Z req_id=r1 end\n`,
  );
  const report = await tree.search({ iccid: CARD, trace: true });
  const text = [...printReport(report, { format: 'text', all: false, isShown: false })].join('');
  expect(text.match(/^ +2026-.* (polled|GET|end)$/gm)?.map((line) => line.split(' ').at(-1))).toEqual([
    'polled',
    'GET',
    'GET',
    'end',
  ]);
});

it.each(['text', 'json', 'jsonl'] as const)('a million matching files are printed as %s', async (format) => {
  const report = await new LogTree().search({ iccid: CARD });
  const one = { path: '/a.log', hits: 12, firstMs: 0, lastMs: 0 };
  const matching = [...Array<typeof one>(999_999).fill(one), { ...one, hits: 1 }];
  const text = [...printReport({ ...report, matching }, { format, all: false, isShown: false })].join('');
  if (format === 'text') expect(text).toMatch(/(\n12 {2}\/a\.log){50}\nand 999950 more files\n$/);
  else expect(text.match(/\/a\.log/g)).toHaveLength(1_000_000);
});

it.each([false, true])('neither a line nor a name drives the terminal, with --all %j', async (all) => {
  const tree = new LogTree();
  tree.write('a\u001b[2J.log', `2026-02-01T10:00:00Z iccid=${CARD} \u202e reversed \u001b[2J\n`);
  const report = await tree.search({ iccid: CARD, all });
  const text = [...printReport(report, { format: 'text', all, isShown: all })].join('');
  expect(text).toContain('/a\uFFFD[2J.log');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
});
