import { afterEach, beforeEach, expect, it } from 'vitest';
import { OCS_TOKEN, startTelcoVisionOcs } from '../../../support/gateways/telco-vision-ocs.ts';
import type { VendorGateway } from '../../../support/gateways/vendor-gateway.ts';

let gateway: VendorGateway;

async function ask(body: unknown, token = OCS_TOKEN): Promise<unknown> {
  const response = await fetch(`${gateway.url}/v1?token=${token}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return response.json();
}

const modify = (iccid: string, newStatus: string) =>
  ask({ modifySubscriberStatus: { subscriber: { iccid }, newStatus } });
const code = (value: number) => ({ status: { code: value } });

beforeEach(async () => {
  gateway = await startTelcoVisionOcs();
});
afterEach(() => gateway.close());

it('tells the bytes of a package', async () => {
  gateway.growBytes = 4_096;
  expect(await ask({ listSubscriberPrepaidPackages: { iccid: '1' } })).toMatchObject({
    status: { code: 0, msg: 'OK' },
    listSubscriberPrepaidPackages: { packages: [{ useddatabyte: 4_096 }] },
  });
});

it('stops and resumes a card', async () => {
  const status = async () => ask({ getSingleSubscriber: { iccid: '1' } });
  expect(await status()).toMatchObject({ getSingleSubscriber: { status: [{ status: 'Active' }] } });
  expect(await modify('1', 'SUSPENDED')).toEqual({ status: { code: 0, msg: 'OK' } });
  expect(await status()).toMatchObject({ getSingleSubscriber: { status: [{ status: 'Suspended' }] } });
  await modify('1', 'ACTIVE');
  expect(await status()).toMatchObject({ getSingleSubscriber: { status: [{ status: 'Active' }] } });
  expect(gateway.stats()).toMatchObject({ stops: { 1: 1 }, starts: { 1: 1 } });
});

it('tells every refusal by a code with HTTP 200', async () => {
  gateway.unknown.add('7');
  expect(await ask({ getSingleSubscriber: { iccid: '1' } }, 'wrong')).toMatchObject(code(8));
  expect(await ask({ getSingleSubscriber: { iccid: '7' } })).toMatchObject(code(6));
  expect(await modify('7', 'SUSPENDED')).toMatchObject(code(6));
  expect(await ask({ getSingleSubscriber: {} })).toMatchObject(code(2));
  expect(await ask({ getSingleSubscriber: {}, listSubscriber: {} })).toMatchObject(code(2));
  expect(await ask({ stopCard: { iccid: '1' } })).toMatchObject(code(1));
  expect(await modify('1', 'stopped')).toMatchObject(code(2));
  gateway.troubles.limit = { calls: 0, withinMs: 1_000 };
  expect(await ask({ getSingleSubscriber: { iccid: '1' } })).toMatchObject(code(100));
  expect(await modify('1', 'SUSPENDED')).toMatchObject(code(100));
  expect(gateway.stats()).toMatchObject({ unauthorized: 1, throttled: 2, stops: {} });
  expect(gateway.stats().misunderstood).toHaveLength(4);
});

it('has one path and one method', async () => {
  expect((await fetch(`${gateway.url}/v1?token=${OCS_TOKEN}`)).status).toBe(404);
  expect((await fetch(`${gateway.url}/v2?token=${OCS_TOKEN}`, { method: 'POST' })).status).toBe(404);
});
