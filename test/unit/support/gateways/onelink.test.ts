import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  ONELINK_APPLICATION,
  ONELINK_THROTTLED,
  type OneLinkGateway,
  startOneLink,
} from '../../../support/gateways/onelink.ts';

const TRANSACTION = '1000012024050209114000000001';
let onelink: OneLinkGateway;

type Parameters = Readonly<Record<string, string>>;

async function ask(path: string, parameters: Parameters = {}, init: RequestInit = {}): Promise<unknown> {
  const all = { token: onelink.token, transid: TRANSACTION, ...parameters };
  const response = await fetch(`${onelink.gateway.url}/v5/ec/${path}?${new URLSearchParams(all)}`, init);
  expect(response.status).toBe(200);
  return response.json();
}

const BATCH = 'query/sim-data-usage-monthly/batch';
const batch = (...iccids: string[]) => ask(BATCH, { iccids: iccids.join('_'), queryDate: '202405' });
const cards = (reply: unknown) =>
  (reply as { result: [{ dataAmountList: { iccid: string }[] }] }).result[0].dataAmountList.map(
    ({ iccid }) => iccid,
  );

beforeEach(async () => {
  onelink = await startOneLink();
});
afterEach(() => onelink.gateway.close());

it('tells kilobytes as text', async () => {
  onelink.gateway.growBytes = 1_536;
  expect(await ask('query/sim-data-usage', { iccid: '1' })).toEqual({
    status: '0',
    message: '正确',
    result: [{ dataAmount: '1.50' }],
  });
});

it('tells real-name as "1" or "0"', async () => {
  expect(await ask('query/sim-real-name-status', { iccid: '1' })).toMatchObject({
    result: [{ realNameStatus: '1' }],
  });
  Object.assign(onelink.gateway.card('1') ?? {}, { verified: false });
  expect(await ask('query/sim-real-name-status', { iccid: '1' })).toMatchObject({
    result: [{ realNameStatus: '0' }],
  });
});

it('stops and resumes a card', async () => {
  const status = () => ask('query/sim-status', { iccid: '1' });
  expect(await status()).toMatchObject({ result: [{ cardStatus: '2' }] });
  expect(await ask('change/sim-status', { iccid: '1', operType: '0' })).toMatchObject({ status: '0' });
  expect(await status()).toMatchObject({ result: [{ cardStatus: '4' }] });
  await ask('change/sim-status', { iccid: '1', operType: '1' });
  expect(await status()).toMatchObject({ result: [{ cardStatus: '2' }] });
  expect(onelink.gateway.stats()).toMatchObject({ stops: { 1: 1 }, starts: { 1: 1 } });
});

it('takes its parameters from the query, a form or JSON', async () => {
  const all = { token: onelink.token, transid: TRANSACTION, iccid: '1' };
  const url = `${onelink.gateway.url}/v5/ec/query/sim-status`;
  const json = { 'content-type': 'application/json' };
  for (const init of [
    { method: 'POST', body: new URLSearchParams(all) },
    { method: 'POST', headers: json, body: JSON.stringify(all) },
  ]) {
    expect(await (await fetch(url, init)).json()).toMatchObject({ status: '0' });
  }
});

it('grants tokens, and revokes them', async () => {
  const granted = (await ask('get/token', { ...ONELINK_APPLICATION })) as { result: [{ token: string }] };
  const { token } = granted.result[0];
  expect(await ask('query/sim-status', { iccid: '1', token })).toMatchObject({ status: '0' });
  expect(await ask('get/token', { ...ONELINK_APPLICATION, password: 'x' })).not.toMatchObject({
    status: '0',
  });
  onelink.revokeTokens();
  expect(await ask('query/sim-status', { iccid: '1', token })).toMatchObject({ status: '12021' });
  expect(onelink.gateway.stats()).toMatchObject({ unauthorized: 2, calls: { token: 2 } });
});

it('refuses another number of a transaction, tells those that come again, and lets tokens end', async () => {
  for (const transid of ['', '1', `9${TRANSACTION.slice(1)}`])
    expect(await ask('query/sim-status', { iccid: '1', transid })).toMatchObject({ status: '10001' });
  expect(onelink.repeated).toEqual([]);
  await ask('query/sim-status', { iccid: '1' });
  await ask('query/sim-status', { iccid: '1' });
  expect(onelink.repeated).toEqual([TRANSACTION]);
  onelink.tokenLifeMs = 0;
  const granted = (await ask('get/token', { ...ONELINK_APPLICATION })) as { result: [{ token: string }] };
  const { token } = granted.result[0];
  expect(await ask('query/sim-status', { iccid: '1', token })).toMatchObject({ status: '12021' });
});

it('tells every refusal by a text code with HTTP 200', async () => {
  onelink.gateway.unknown.add('7');
  expect(await ask('query/sim-data-usage', { iccid: '7' })).toMatchObject({ status: '11011', result: [] });
  expect(await ask('change/sim-status', { iccid: '7', operType: '0' })).toMatchObject({ status: '11011' });
  expect(await ask('query/sim-data-usage')).not.toMatchObject({ status: '0' });
  expect(await ask('change/sim-status', { iccid: '1' })).not.toMatchObject({ status: '0' });
  onelink.gateway.troubles.limit = { calls: 0, withinMs: 1_000 };
  expect(await ask('query/sim-status', { iccid: '1' })).toMatchObject({ status: ONELINK_THROTTLED });
  expect(onelink.gateway.stats()).toMatchObject({ throttled: 1, stops: {} });
});

it('answers up to 100 cards and leaves out those it does not know', async () => {
  onelink.gateway.unknown.add('7');
  expect(cards(await batch('1', '7', '2'))).toEqual(['1', '2']);
  const many = Array.from({ length: 101 }, (_, i) => String(i + 100));
  expect(cards(await batch(...many.slice(1)))).toHaveLength(100);
  expect(await batch(...many)).not.toMatchObject({ status: '0' });
  expect(await ask(BATCH, { iccids: '1' })).not.toMatchObject({ status: '0' });
  expect(onelink.gateway.stats()).toMatchObject({ batches: [3, 100, 101, 1], calls: { flow: 4 } });
});

it('answers a batch in another order, with doubled, foreign and missing cards', async () => {
  onelink.batch.reversed = true;
  onelink.batch.missing.add('1');
  onelink.batch.doubled.add('2');
  onelink.batch.foreign.add('99');
  expect(cards(await batch('1', '2', '3'))).toEqual(['99', '3', '2', '2']);
});

it('fails a batch with a poisoned card as a whole', async () => {
  onelink.batch.poisoned.add('2');
  expect(await batch('1', '2')).toMatchObject({ status: '2', result: [] });
  expect(cards(await batch('1', '3'))).toEqual(['1', '3']);
});
