import { expect, it } from 'vitest';
import type { Card } from '../../../../../src/domain/cards/card.ts';
import { packCard, unpackCard } from '../../../../../src/store/redis/cards/card-cache.ts';
import { card } from '../../../../support/cards.ts';

const CARD = card(17, { iccid: '898600123456789012', status: 0 });
const USAGE = {
  month: '2026-01',
  usedMb: 0.1,
  lastReadingMb: 0.1,
  suspectedMb: null,
  jump: null,
  readAtMs: 1_795_000_000_123,
};

it.each<[string, Partial<Card>]>([
  ['the shortest card', {}],
  ['an iccid of 22 digits', { iccid: '9999999999999999999999' }],
  ['an iccid with leading zeros', { iccid: '00000000000000000000' }],
  ['flags', { realNameVerified: true, stopped: true }],
  ['an allowance of nothing', { allowanceMb: 0 }],
  ['a vendor id', { vendorId: 'sim; 7,é😀' }],
  ['a vendor id and a usage', { vendorId: '4711', usage: USAGE }],
  ['a fraction', { allowanceMb: 0.3 }],
  ['a usage', { usage: USAGE }],
  [
    'a usage that started anew',
    { usage: { ...USAGE, month: '2026-12', usedMb: 1e9 + 0.7, lastReadingMb: 0 } },
  ],
  ['a suspicion', { usage: { ...USAGE, suspectedMb: 0 } }],
  ['a jump', { usage: { ...USAGE, jump: { fromMb: 0.3, fromUsedMb: 0, atMs: 1_794_999_000_123 } } }],
  [
    'a jump of the first count',
    { usage: { ...USAGE, jump: { fromMb: 5, fromUsedMb: 5, atMs: USAGE.readAtMs } } },
  ],
  [
    'a jump of the month before under suspicion',
    { usage: { ...USAGE, suspectedMb: 5, jump: { fromMb: 2, fromUsedMb: null, atMs: 1_795_000_000_123 } } },
  ],
])('a packed card comes back whole: %s', (_, over) => {
  const card = { ...CARD, ...over };
  expect(unpackCard(card.cardId, packCard(card))).toEqual(card);
});

it('takes a text of another layout for a missing card', () => {
  expect(unpackCard(1, '')).toBeNull();
  expect(unpackCard(1, '{"card_id":1}')).toBeNull();
  // The two layouts of releases before the letter.
  expect(unpackCard(1, '3pcg9tbdxdlzm 1 0 0 - i9k 0.1  mxn5')).toBeNull();
  expect(unpackCard(1, 'efadknsfnl78,1,0,0,-,irc,0.1,,mwm0nkaj')).toBeNull();
  // The one without the jump.
  expect(unpackCard(1, 'Cefadknsfnl78;1;0;0;-;irc;0.1;;mwm0nkaj')).toBeNull();
  // The one before the flag of a former ICCID.
  expect(unpackCard(1, 'Defadknsfnl78;1;0;0;-;irc;0.1;;mwm0nkaj')).toBeNull();
  // The one before the vendor id.
  expect(unpackCard(1, 'Eefadknsfnl78;1;0;0;-;irc;0.1;;mwm0nkaj')).toBeNull();
  // A later one: a field is added in the middle and the letter is another.
  expect(unpackCard(1, 'Gefadknsfnl78;1;0;0;7;-;irc;0.1;;mwm0nkaj')).toBeNull();
});

it('is no card for releases that split by commas', () => {
  const card = { ...CARD, usage: { ...USAGE, suspectedMb: 0 } };
  expect(packCard(card)).not.toContain(',');
});

// Another text here needs another letter: instances of both versions share the cache during an upgrade.
it('has the layout of its letter', () => {
  const jump = { fromMb: 0.01, fromUsedMb: 0.02, atMs: USAGE.readAtMs - 50 };
  const usage = { ...USAGE, lastReadingMb: 0.2, suspectedMb: 0.3, jump };
  const card = { ...CARD, carrierId: 37, status: 5, stopped: true, allowanceMb: 30, usage };
  expect(packCard(card)).toBe('Fefadknsfnl78;11;5;2;30;;irc;0.1;0.2;mwm0nkaj;0.3;0.01;0.02;1e');
});
