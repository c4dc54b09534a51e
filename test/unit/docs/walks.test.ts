// docs/architecture.md follows a poll, a number of the statistics, an alert and a log search through the files. A reader keeps few
// files in mind, so each walk has a most. That the files exist is links.test.ts.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { proseOf, REPOSITORY } from '../../support/markdown.ts';
import { readSourceTree } from '../../support/source-tree.ts';

const SECTIONS = proseOf('docs/architecture.md').split(/^## /m);

/** The files of src that a walk names, in its order. */
function walked(title: string): string[] {
  const section = SECTIONS.find((text) => text.startsWith(`${title}, file by file`));
  return [
    ...new Set(Array.from((section ?? '').matchAll(/`src\/([\w./-]+\.\w+)`/g), ([, path = '']) => path)),
  ];
}

it.each([
  ['One poll', 'engine/work/worker.ts', 'store/redis/work/work-settle.lua', 14],
  ['One stop', 'engine/orders/wanted-stops.ts', 'engine/orders/order-calls.ts', 6],
  ['One `cardpoll stats`', 'engine/work/poll.ts', 'terminal/reports/stats-views.ts', 22],
  ['One alert', 'cli/commands/alerts/alert-rules.ts', 'engine/alerts/webhook-sender.ts', 14],
  ['One log search', 'cli/commands/logs.ts', 'log-search/report/print-report.ts', 10],
])('the walk "%s" goes from %s to %s through at most %i files', (title, from, to, most) => {
  const files = walked(title);
  expect(files).toContain(from);
  expect(files).toContain(to);
  expect(files.length).toBeLessThanOrEqual(most);
});

it('the walk of a poll stays in eight folders', () => {
  const folders = new Set(walked('One poll').map((file) => file.replace(/\/[^/]+$/, '')));
  expect(folders.size).toBeLessThanOrEqual(8);
});

it('the walk through the log search names each file after one that imports it', () => {
  const tree = new Map(readSourceTree(join(REPOSITORY, 'src')).map(({ path, imports }) => [path, imports]));
  const reached = new Set(['cli/commands/logs.ts']);
  for (const file of walked('One log search')) {
    expect([...reached], file).toContain(file);
    for (const { target } of tree.get(file) ?? []) reached.add(target);
  }
});
