import { expect, it } from 'vitest';
import { importsUnderWay } from '../../../../src/operations/explain/allowance-origin.ts';

const begun = (id: number, atMs: number) => ({ id, requestId: `r${id}`, atMs });
const ended = (id: number, atMs: number) => ({ requestId: `r${id}`, atMs });

it.each([
  ['the one that ended later', [begun(1, 100)], [ended(1, 900)], [1]],
  ['none that ended before', [begun(1, 100)], [ended(1, 400)], []],
  ['both where two overlapped', [begun(2, 200), begun(1, 100)], [ended(1, 600), ended(2, 700)], [2, 1]],
  ['the last one without an end', [begun(2, 200), begun(1, 100)], [], [2]],
  ['one with an end before one without', [begun(2, 200), begun(1, 100)], [ended(1, 600)], [1]],
])('the import behind an allowance is %s', (_, begins, ends, ids) => {
  expect(importsUnderWay(begins, ends, 500).map(({ id }) => id)).toEqual(ids);
});
