import { describe, expect, it } from 'vitest';
import { IdMatcher } from '../../../../src/log-search/hits/trace-lines.ts';
import { CardMatcher } from '../../../../src/log-search/match/card-matcher.ts';
import { hasCard } from '../../../support/log-reference.ts';

function matches(card: string, line: string): boolean {
  const matcher = new CardMatcher(card);
  const buf = Buffer.from(line);
  for (let at = matcher.next(buf, 0); at !== -1; at = matcher.next(buf, at + 1)) {
    if (matcher.accepts(buf, at, 0, buf.length)) return true;
  }
  return false;
}

const NINETEEN = '8986001234567890123';
const TWENTY = '89860012345678901234';

describe('a whole card id', () => {
  it.each([
    [NINETEEN, `"iccid":"${NINETEEN}"`, true],
    [NINETEEN, NINETEEN, true],
    [NINETEEN, `x${NINETEEN}y`, true],
    [NINETEEN, `"iccid":"${NINETEEN}4"`, true],
    [NINETEEN, `${NINETEEN}45`, false],
    [NINETEEN, `1${NINETEEN}`, false],
    [NINETEEN, `1${NINETEEN} ${NINETEEN}`, true],
    [TWENTY, `card ${TWENTY}.`, true],
    [TWENTY, `card ${NINETEEN}.`, true],
    [TWENTY, `card ${NINETEEN}5.`, false],
    [TWENTY, `card ${TWENTY}5.`, false],
    [NINETEEN.slice(0, 18), `card ${NINETEEN}`, true],
    [NINETEEN.slice(1), `card ${TWENTY}.`, true],
    [NINETEEN.slice(0, 18), `card ${NINETEEN.slice(0, 18)}`, true],
    ['111111111111111111', '11111111111111111 1111111111111111111', true],
    ['111111111111111111', '11111111111111111 1111', false],
    ['1111111111111111111', `${'1'.repeat(21)} ${'1'.repeat(18)}`, false],
  ])('%s in %s: %s', (card, line, expected) => {
    expect(matches(card, line)).toBe(expected);
    expect(hasCard(Buffer.from(line), card)).toBe(expected);
  });
});

describe('a whole card id in groups of four', () => {
  const grouped = (digits: string, separator: string) => (digits.match(/.{1,4}/g) ?? []).join(separator);

  it.each([
    [NINETEEN, grouped(NINETEEN, ' '), true],
    [NINETEEN, `iccid ${grouped(TWENTY, ' ')}, sim`, true],
    [TWENTY, grouped(TWENTY, '-'), true],
    [TWENTY, grouped(NINETEEN, '-'), true],
    [TWENTY, `${grouped(NINETEEN, ' ')}5`, false],
    [NINETEEN.slice(0, 18), grouped(NINETEEN.slice(0, 18), ' '), true],
    [NINETEEN, `${grouped(NINETEEN, ' ')}45`, false],
    [NINETEEN, `1${grouped(NINETEEN, ' ')}`, false],
    [NINETEEN, grouped(NINETEEN, ' ').replace(' ', '-'), false],
    [NINETEEN, grouped(NINETEEN, '.'), false],
    ['8986000000000000000', grouped('8986000000000000000', ' '), true],
    ['0'.repeat(20), `${'0'.repeat(300)} ${grouped('0'.repeat(20), ' ')}`, true],
  ])('%s in %s: %s', (card, line, expected) => {
    expect(matches(card, line)).toBe(expected);
  });

  it('is found whatever else the lines are full of', () => {
    for (const [nth, part] of ['3456', '7890', '123', '0012'].entries()) {
      const filler = `${part} `.repeat(1_000 * (nth + 1));
      expect(matches(NINETEEN, `${filler}${NINETEEN} ${filler}`)).toBe(true);
      expect(matches(NINETEEN, `${filler}${grouped(NINETEEN, ' ')} ${filler}`)).toBe(true);
    }
  });
});

describe('part of a card id', () => {
  it.each([
    ['4567', `"iccid":"${NINETEEN}"`, true],
    ['4567', '456 7', false],
    [NINETEEN.slice(0, 17), NINETEEN, true],
  ])('%s in %s: %s', (card, line, expected) => {
    expect(matches(card, line)).toBe(expected);
  });
});

describe('request ids', () => {
  const found = (ids: string[], line: string) => {
    const matcher = new IdMatcher(ids);
    const buf = Buffer.from(line);
    const at = matcher.next(buf, 0);
    return at !== -1 && matcher.accepts(buf, at, 0, buf.length);
  };
  it('match as whole words', () => {
    expect(found(['abc-1'], '"trace_id":"abc-1"')).toBe(true);
    expect(found(['abc-1'], '"trace_id":"abc-12"')).toBe(false);
    expect(found(['abc-1'], '"trace_id":"xabc-1"')).toBe(false);
    expect(found(['zzz', 'abc-1', 'abc'], 'id abc-1 and zzz')).toBe(true);
  });
});

describe('other ways to write a card id', () => {
  it.each([
    [TWENTY, '89860 01234 56789 01234', true],
    [TWENTY, '89 8600 1234 5678 9012 34', true],
    [TWENTY, '8986\u00a00012\u00a03456\u00a07890\u00a01234', true],
    [TWENTY, '98680021436587092143', true],
    [NINETEEN, '986800214365870921F3', true],
    [NINETEEN, '986800214365870921f3', true],
    [TWENTY, '89860 01234 56789 01235', false],
    [TWENTY, '1986800214365870921435', false],
  ])('%s in %s: %s', (card, line, expected) => {
    expect(matches(card, line)).toBe(expected);
  });

  it('a card id inside a longer number is known, and is none', () => {
    for (const card of [NINETEEN, TWENTY]) {
      const line = Buffer.from(`01${card}46`);
      const matcher = new CardMatcher(card);
      const at = matcher.next(line, 0);
      expect([matcher.accepts(line, at, 0, line.length), matcher.isInside(line, at, line.length)]).toEqual([
        false,
        true,
      ]);
    }
  });
});
