// Lines keep to their columns whatever is in them, and hold nothing a terminal would obey.

import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { clamped, type Line } from '../../../src/dashboard/layout.ts';
import { plainText } from '../../../src/domain/plain-text.ts';
import { fitted, lineWidth, padded } from '../../../src/terminal/line.ts';
import { loadWidths, widthOf } from '../../../src/terminal/width.ts';

await loadWidths();

const textOf = (line: Line) => line.map(({ text }) => text).join('');
const of = (...texts: string[]): Line => texts.map((text) => ({ text }));

it.each(['abc', '█░▁▇⣿⠀', '●▲■▸✖…→←↑↓', '流量', '🦊', 'e\u0301', '─'])('knows the width of %j', (text) => {
  expect(widthOf(text)).toBe(stringWidth(text));
});

it.each([
  ['\x1b[2Jx', ' [2Jx'],
  ['a\r\nb\tc', 'a b c'],
  ['a\u202eb\u200bc\u2028d', 'a b c d'],
  ['\x9b31m', ' 31m'],
  ['流量 █ ok', '流量 █ ok'],
])('takes what steers out of %j', (text, expected) => {
  expect(plainText(text)).toBe(expected);
});

describe('fitted', () => {
  it.each<[Line, number, string]>([
    [of('abc', 'def'), 6, 'abcdef'],
    [of('abc', 'def'), 5, 'abcd…'],
    [of('abc', 'def'), 4, 'abc…'],
    [of('流量检查'), 5, '流量…'],
    [of('流量检查'), 4, '流…'],
    [of('abc'), 1, '…'],
    [of('abc'), 0, ''],
    [of('a\x1b', 'b'), 3, 'a b'],
  ])('%j to %i columns is %j', (line, columns, expected) => {
    expect(textOf(fitted(line, columns))).toBe(expected);
    expect(lineWidth(fitted(line, columns))).toBeLessThanOrEqual(columns);
  });
});

it('pads a line', () => {
  expect(textOf(padded(of('流'), 4, 'left'))).toBe('流  ');
  expect(textOf(padded(of('流'), 4, 'right'))).toBe('  流');
});

it('wraps between words, and leaves the rest to the last row', () => {
  expect(clamped('one two  three', 8, 9)).toEqual(['one two', 'three']);
  expect(clamped('one two three four', 8, 2)).toEqual(['one two', 'three four']);
  expect(clamped('a\nb', 80, 9)).toEqual(['a b']);
});
