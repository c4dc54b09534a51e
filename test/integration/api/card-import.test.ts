// Imports that lower allowances, through the API: how many cards would be over their package, the limit of that, and the
// preview with the cards as they are.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { MonthCalendar } from '../../../src/domain/cards/month-calendar.ts';
import { reading } from '../../contract/record-store/stores.ts';
import { type ApiUnderTest, startApi } from '../../support/api-under-test.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { waitFor } from '../../support/wait-for.ts';

const IMPORT = '/api/admin/cards/import';
const HEADER = 'card_id,iccid,carrier_id,status,allowance_mb\n';
const CSV = { 'content-type': 'text/csv' };
const CARDS = 25_000;
const USED = 150;

const iccidOf = (cardId: number) => `8986${String(cardId).padStart(16, '0')}`;

let api: ApiUnderTest;

beforeAll(async () => {
  api = await startApi({ redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() });
  expect(await importOf(() => 1_000)).toMatchObject({
    status: 200,
    body: { inserted: CARDS, over_package: 0 },
  });
  const month = new MonthCalendar('Asia/Shanghai').monthOf(Date.now());
  await api.records.results.ensurePartitions(month);
  // The last cards of the file have used something.
  await api.records.results.write(
    Array.from({ length: USED }, (_, i) =>
      reading(CARDS - i, { month, usedMb: 600, atMs: Date.now(), basedOn: null }),
    ),
  );
});
afterAll(() => api.close());

function* file(allowanceMb: (cardId: number) => number) {
  yield HEADER;
  for (let id = 1; id <= CARDS; id++) yield `${id},${iccidOf(id)},1,1,${allowanceMb(id)}\n`;
}

const importOf = (allowanceMb: (cardId: number) => number, query = '') =>
  api.call('POST', `${IMPORT}${query}`, { body: file(allowanceMb) as never, headers: CSV });
const allowanceOf = async (cardId: number) =>
  (await api.call('GET', `/api/admin/cards/${cardId}`)).body.allowance_mb;
const lowered = () => 500;

it('counts in a dry run how many cards would be over their package', async () => {
  expect(await importOf(lowered, '?dry_run=true')).toMatchObject({
    status: 200,
    body: { updated: CARDS, over_package: USED },
  });
  expect(await allowanceOf(CARDS)).toBe(1_000);
});

it('ends before it puts more cards over their package than are accepted, and keeps the rows before', async () => {
  for (const query of ['', '?accept_over_package=149']) {
    const refused = await importOf(lowered, query);
    expect(refused).toMatchObject({
      status: 422,
      body: { code: 'cards_over_package', errors: [{ field: 'accept_over_package' }] },
    });
    expect(refused.body.detail).toContain('before line 20002: 150 cards would be over their package');
  }
  expect([await allowanceOf(1), await allowanceOf(CARDS)]).toEqual([500, 1_000]);
  for (const wrong of ['-1', '', '0x10', '1.5'])
    expect((await importOf(lowered, `?accept_over_package=${wrong}`)).status).toBe(422);
  expect(await importOf(lowered, '?accept_over_package=150')).toMatchObject({
    status: 200,
    body: { updated: 5_000, unchanged: 20_000, over_package: USED },
  });
  expect(await allowanceOf(CARDS)).toBe(500);
});

it('previews an import: every card that it would update as it is, then the report, and nothing is written', async () => {
  const now = (cardId: number) => (cardId % 2 === 0 ? 300 : 500);
  const preview = await fetch(`${api.server.url}${IMPORT}/preview`, {
    method: 'POST',
    headers: CSV,
    body: [...file(now)].join(''),
  });
  expect(preview.status).toBe(200);
  expect(preview.headers.get('content-type')).toBe('application/x-ndjson');
  const lines = (await preview.text()).trimEnd().split('\n');
  const report = JSON.parse(lines.pop() ?? '');
  expect(report).toMatchObject({
    received: CARDS,
    updated: CARDS / 2,
    unchanged: CARDS / 2,
    over_package: 0,
  });
  expect(lines).toHaveLength(CARDS / 2);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    card_id: 2,
    iccid: iccidOf(2),
    carrier_id: 1,
    status: 1,
    allowance_mb: 500,
    vendor_id: null,
    real_name_verified: null,
  });
  expect(await allowanceOf(2)).toBe(500);
  await importOf(now);
  const undone = await api.call('POST', `${IMPORT}?overwrite_verified=true`, {
    body: `${lines.join('\n')}\n`,
    headers: { 'content-type': 'application/x-ndjson' },
  });
  expect(undone).toMatchObject({ status: 200, body: { updated: CARDS / 2, rejected: 0 } });
  expect(await allowanceOf(2)).toBe(500);
});

it('logs why an answer was broken off after its beginning', async () => {
  const { cards } = api.records;
  const importChunk = cards.importChunk.bind(cards);
  const imports = vi
    .spyOn(cards, 'importChunk')
    .mockImplementationOnce(importChunk)
    .mockRejectedValueOnce(new Error('no space left'));
  const answer = await fetch(`${api.server.url}${IMPORT}/preview`, {
    method: 'POST',
    headers: { ...CSV, 'x-request-id': 'cut' },
    body: [...file(() => 7)].join(''),
  });
  await expect(answer.text()).rejects.toThrow();
  imports.mockRestore();
  expect(api.apiLog.splice(0)).toMatchObject([
    { request_id: 'cut', path: `${IMPORT}/preview`, err: { message: 'no space left' } },
  ]);
});

it('refuses a preview of a file that cannot be read, and survives a client that leaves', async () => {
  const wrong = await api.call('POST', `${IMPORT}/preview`, { body: 'no,such\n', headers: CSV });
  expect(wrong).toMatchObject({ status: 400, body: { code: 'bad_import_header' } });
  const gone = new AbortController();
  const answer = await fetch(`${api.server.url}${IMPORT}/preview`, {
    method: 'POST',
    headers: CSV,
    body: [...file(() => 7)].join(''),
    signal: gone.signal,
  });
  gone.abort();
  await expect(answer.text()).rejects.toThrow(/abort/i);
  const left = await waitFor(
    () => api.accessLog.find(({ path, status }) => path === `${IMPORT}/preview` && status === 499),
    { what: 'the preview to end' },
  );
  expect(left).toBeDefined();
  expect(api.apiLog).toEqual([]);
  expect((await importOf(() => 500, '?dry_run=true')).status).toBe(200);
});
