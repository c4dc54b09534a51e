// Requests by profile: where the card goes, and what may not leave its place.
import { expect, it } from 'vitest';
import type { GatewayInterface } from '../../../src/config/daemon-config.ts';
import { MonthCalendar } from '../../../src/domain/cards/usage-month.ts';
import { RequestMaker } from '../../../src/gateway/request.ts';

const NEW_YEAR_IN_SHANGHAI = Date.UTC(2026, 11, 31, 16, 30);
const CARD = { cardId: 42, iccid: '89860000000000000042', carrierId: 7 };

function make(call: Partial<GatewayInterface>, cards: [typeof CARD, ...(typeof CARD)[]] = [CARD]) {
  const full: GatewayInterface = {
    method: 'GET',
    path: '/',
    query: {},
    headers: {},
    body: null,
    form: null,
    timeoutMs: null,
    reading: null,
    batch: null,
    ...call,
  };
  const calendar = new MonthCalendar('Asia/Shanghai');
  return new RequestMaker(full, '/tenant', calendar).make(cards, NEW_YEAR_IN_SHANGHAI);
}

it('puts the card into path, query and headers', () => {
  const request = make({
    path: '/devices/{iccid}/usage?fixed=1',
    query: { carrier: '{carrier_id}', 'a b': 'x&{card_id}', month: '{month}', on: '{date}' },
    headers: { 'X-Card': 'card {iccid}' },
  });
  expect(request.path).toBe(
    '/tenant/devices/89860000000000000042/usage?fixed=1&carrier=7&a%20b=x%2642&month=2027-01&on=2027-01-01',
  );
  expect(request.headers.slice(-2)).toEqual(['x-card', 'card 89860000000000000042']);
  expect([request.method, request.body]).toEqual(['GET', null]);
  expect(request.headers).not.toContain('content-type');
});

it('puts the card into a JSON body or a form', () => {
  const body = {
    cmd: 'usage',
    params: [{ cardNo: '{iccid}', n: 1, deep: { of: '{carrier_id}-{card_id}' } }],
  };
  const json = make({ method: 'POST', body });
  expect(JSON.parse(json.body ?? '')).toEqual({
    cmd: 'usage',
    params: [{ cardNo: CARD.iccid, n: 1, deep: { of: '7-42' } }],
  });
  expect(json.headers.slice(-2)).toEqual(['content-type', 'application/json']);
  const form = make({ method: 'POST', form: { cardNo: '{iccid}', cmd: 'a b' } });
  expect(form.body).toBe(`cardNo=${CARD.iccid}&cmd=a%20b`);
  expect(form.headers.slice(-2)).toEqual(['content-type', 'application/x-www-form-urlencoded']);
});

it('names many cards as a list in JSON, and joined by commas elsewhere', () => {
  const cards: [typeof CARD, typeof CARD] = [CARD, { ...CARD, iccid: '2' }];
  expect(make({ method: 'POST', body: { list: '{iccids}', text: 'of {iccids}' } }, cards).body).toBe(
    '{"list":["89860000000000000042","2"],"text":"of 89860000000000000042,2"}',
  );
  expect(make({ query: { ids: '{iccids}' } }, cards).path).toBe('/tenant/?ids=89860000000000000042,2');
});

it.each(['../../admin', '1/stop?x=', 'a b', '1"2', '1\\', '卡', '1\r\nx: y', '%2e'])(
  'keeps a card number like %j in its place',
  (iccid) => {
    const card = { ...CARD, iccid };
    const path = make({ path: '/d/{iccid}/u', query: { id: '{iccid}' } }, [card]).path;
    expect(path).toBe(`/tenant/d/${encodeURIComponent(iccid)}/u?id=${encodeURIComponent(iccid)}`);
    const body = make({ method: 'POST', body: { id: '{iccid}' } }, [card]).body ?? '';
    expect(JSON.parse(body)).toEqual({ id: iccid });
    for (const header of make({ headers: { card: '{iccid}' } }, [card]).headers) {
      expect(header).toMatch(/^[\x20-\x7e]*$/);
    }
  },
);
