// The cache of parts: a part is rendered again when what it shows or its width has changed, and not otherwise.
import { Text } from 'ink';
import { expect, it } from 'vitest';
import { linesOf, stacked } from '../../../src/dashboard/part.tsx';
import { plain } from './screen.ts';

let renderings = 0;
function Counted({ text }: { readonly text: string }) {
  renderings += 1;
  return <Text>{text}</Text>;
}

/** What is on the screen, and how many renderings that took. */
function shown(text: string, columns = 40, isStale = false) {
  const before = renderings;
  const lines = linesOf(<Counted text={text} />, columns, isStale).map(plain);
  return { lines, renderings: renderings - before };
}

it('is rendered once for the same data, width and age', () => {
  expect(shown('a')).toEqual({ lines: ['a'], renderings: 1 });
  expect(shown('a')).toEqual({ lines: ['a'], renderings: 0 });
});

it.each([
  ['what it shows', () => shown('changed')],
  ['its width', () => shown('same', 41)],
  ['whether it is stale', () => shown('same', 40, true)],
])('is rendered again when this changes: %s', (_, again) => {
  shown('same');
  expect(again().renderings).toBe(1);
  expect(shown('same').renderings).toBe(0);
});

it('follows a change and its way back', () => {
  expect([shown('1').lines, shown('2').lines, shown('1').lines]).toEqual([['1'], ['2'], ['1']]);
});

it('breaks its lines again in another width', () => {
  expect(shown('three short words', 20).lines).toHaveLength(1);
  expect(shown('three short words', 7).lines).toEqual(['three', 'short', 'words']);
});

it('keeps a hundred parts, and the one that was used last', () => {
  shown('kept');
  for (let i = 0; i < 99; i += 1) shown(`other ${i}`);
  expect(shown('kept').renderings).toBe(0);
  for (let i = 0; i < 100; i += 1) shown(`further ${i}`);
  expect(shown('kept').renderings).toBe(1);
});

it('leaves parts without lines out, with no blank line for them', () => {
  expect(stacked([[[{ text: 'a' }]], [], [[{ text: 'b' }]]], 10, false)).toEqual(['a', '', 'b']);
});
