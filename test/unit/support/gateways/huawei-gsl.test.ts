import { afterEach, beforeEach, expect, it } from 'vitest';
import { GSL_TOKEN, type GslGateway, startHuaweiGsl } from '../../../support/gateways/huawei-gsl.ts';

const ICCID = '89860000000000000011';
const OTHER = '89860000000000000029';
let gsl: GslGateway;

async function ask(
  path: string,
  body?: unknown,
  token = GSL_TOKEN,
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${gsl.gateway.url}/v1/${path}`, {
    headers: { 'X-Auth-Token': token },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const usage = (...iccids: unknown[]) => ask('sim-price-plans/usage/batch-query', { iccids });

beforeEach(async () => {
  gsl = await startHuaweiGsl();
});
afterEach(() => gsl.gateway.close());

it('answers many cards with a list without an envelope, in megabytes', async () => {
  gsl.gateway.growBytes = 2_500_000;
  gsl.gateway.unknown.add(OTHER);
  const { status, body } = await usage(ICCID, OTHER);
  expect(status).toBe(200);
  expect(body).toEqual([expect.objectContaining({ iccid: ICCID, flow_used: 2.5, flow_left: 97.5 })]);
  expect(gsl.gateway.stats().batches).toEqual([2]);
});

it('takes 50 cards at most', async () => {
  const many = Array.from({ length: 51 }, (_, i) => `898600000000000001${i + 10}`);
  expect((await usage(...many.slice(1))).body).toHaveLength(50);
  expect((await usage(...many)).status).toBe(400);
  expect((await usage()).status).toBe(400);
});

it('tells states as numbers and real-name as a boolean', async () => {
  expect(await ask(`sim-cards/0?iccid=${ICCID}`)).toMatchObject({ body: { iccid: ICCID, sim_status: 20 } });
  expect(await ask(`sim-cards/0/real-named?iccid=${ICCID}`)).toMatchObject({ body: { real_named: true } });
  expect((await ask('sim-cards/0')).status).toBe(400);
});

it('takes orders to stop and to resume, and carries them out later', async () => {
  gsl.gateway.troubles.effectMs = 60_000;
  expect(await ask('sim-cards/0/stop', { iccid: ICCID })).toEqual({
    status: 200,
    body: { work_order_id: 1_000_001 },
  });
  expect(await ask(`sim-cards/0?iccid=${ICCID}`)).toMatchObject({ body: { sim_status: 20 } });
  expect(await ask('sim-cards/0/stop', { iccid: ICCID })).toMatchObject({
    status: 403,
    body: { error_code: 'GSL.00016010' },
  });
  gsl.gateway.troubles.effectMs = 0;
  await ask('sim-cards/0/stop', { iccid: OTHER });
  expect(await ask(`sim-cards/0?iccid=${OTHER}`)).toMatchObject({ body: { sim_status: 14 } });
  await ask('sim-cards/0/reset', { down_up_switch: 2, iccid: OTHER });
  expect(await ask(`sim-cards/0?iccid=${OTHER}`)).toMatchObject({ body: { sim_status: 20 } });
  expect(gsl.gateway.stats()).toMatchObject({ stops: { [ICCID]: 1, [OTHER]: 1 }, starts: { [OTHER]: 1 } });
});

it('refuses by the HTTP status and a text code', async () => {
  gsl.gateway.unknown.add(OTHER);
  gsl.batch.poisoned.add(OTHER);
  const wrong = await ask(`sim-cards/0?iccid=${ICCID}`, undefined, 'wrong');
  expect(wrong).toMatchObject({ status: 401, body: { error_code: 'APIGW.0301' } });
  expect(await ask(`sim-cards/0?iccid=${OTHER}`)).toMatchObject({ status: 400 });
  expect(await usage(ICCID, OTHER)).toMatchObject({ status: 500, body: { error_code: 'GSL.00010003' } });
  expect((await ask('sim-cards/1')).status).toBe(404);
  gsl.gateway.troubles.limit = { calls: 0, withinMs: 1_000 };
  expect(await usage(ICCID)).toMatchObject({ status: 429, body: { error_code: 'APIGW.0308' } });
});
