// An export is the text of an import: what a field holds survives both.
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { CARD_DEFAULTS } from '../../../../src/domain/cards/card-import.ts';
import { exportCards } from '../../../../src/operations/cards/card-export.ts';
import { rowReader, toCardImport } from '../../../../src/operations/cards/card-import-format.ts';

const FILTER = { carrierId: null, status: null, stopped: null };
const ICCID = '89860000000000000001';

async function exported(iccid: string, format: 'csv' | 'ndjson'): Promise<string[]> {
  const card = {
    ...CARD_DEFAULTS,
    cardId: 1,
    iccid,
    allowanceMb: 0.5,
    realNameVerified: true,
    stopped: false,
  };
  const cards = { list: async () => ({ cards: [card], nextAfterId: null }) };
  return (await text(exportCards(cards, FILTER, format))).trimEnd().split('\n');
}

it.each(['csv', 'ndjson'] as const)('reads back what it wrote as %s', async (format) => {
  const read = rowReader(format, null);
  const rows = (await exported(ICCID, format)).map(read).filter((row) => row !== null);
  expect(rows.map(toCardImport)).toEqual([
    { ...CARD_DEFAULTS, cardId: 1, iccid: ICCID, allowanceMb: 0.5, realNameVerified: true },
  ]);
});

it.each(['with "quotes"', 'with, a comma'])('keeps a text %s in one field of CSV', async (iccid) => {
  const read = rowReader('csv', null);
  const [, row] = (await exported(iccid, 'csv')).map(read);
  expect(row?.iccid).toBe(iccid);
});
