// Cards that the vendor knows by an id of its own: how a call names them, and that a card without such an id is not called.
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { FlowControlledGateway } from '../../../../src/gateway/flow/flow-control.ts';
import type { GatewayError } from '../../../../src/gateway/gateway.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, type BadGateway, startBadGateway } from '../../../support/bad-gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { type GatewayChanges, gatewayConfig } from '../../../support/gateway-config.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3, vendorId: 'sim 7/a' };
const FLOW = { method: 'GET', path: '/sims/{vendor_id}/usage', body: null } as const;

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function open(changes: Omit<GatewayChanges, 'url'>): Promise<[BadGateway, GatewayClient]> {
  const gateway = await startBadGateway(answer(200, '{"code":200,"data":{"used":1}}'));
  const client = new GatewayClient(gatewayConfig({ ...changes, url: gateway.url }), {
    log: pino({ enabled: false }),
    clock: new FakeClock(),
    calendar: new MonthCalendar('UTC'),
    proxies: NO_PROXIES,
  });
  opened.push(
    () => gateway.close(),
    () => client.close(),
  );
  return [gateway, client];
}

it('names the card by the vendor id, which stays in its place', async () => {
  const [gateway, client] = await open({ interfaces: { flow: FLOW } });
  await client.call('flow', CARD, 60_000);
  expect(gateway.requests[0]?.path).toBe('/sims/sim%207%2Fa/usage');
});

it.each([null, undefined])(
  'makes no call for a card without one (%s), not even for a token',
  async (vendorId) => {
    const auth = { ...gatewayConfig({ url: 'http://h' }).auth, kind: 'oauth2', tokenUrl: '/token' } as const;
    const [gateway, client] = await open({ auth, interfaces: { flow: FLOW } });
    const { vendorId: _, ...rest } = CARD;
    const card = vendorId === undefined ? rest : { ...rest, vendorId };
    const error = await client.call('flow', card, 60_000).catch((cause: GatewayError) => cause);
    expect(error).toMatchObject({
      failure: 'no_vendor_id',
      message: 'card 7 has no vendor_id, and the profile calls flow by it',
      isCardFault: true,
      isGatewayFault: false,
      isRefusal: true,
    });
    expect(gateway.requests).toEqual([]);
  },
);

it('says nothing about the gateway: such cards neither open the breaker nor count as calls', async () => {
  const [gateway, client] = await open({ interfaces: { flow: FLOW } });
  const clock = new FakeClock();
  const metered: unknown[] = [];
  const changes: string[] = [];
  const flow = new FlowControlledGateway({
    clock,
    gateway: client,
    cardsPerCall: () => 1,
    random: () => 0,
    meter: { gatewayCall: (...call) => metered.push(call) },
    onChange: (name, state) => changes.push(`${name} ${state}`),
  });
  for (let i = 0; i < 50; i += 1) {
    clock.advance(1_000);
    await flow.call('flow', { ...CARD, vendorId: null }, 60_000).catch(() => {});
  }
  expect({ metered, changes, requests: gateway.requests }).toEqual({
    metered: [],
    changes: [],
    requests: [],
  });
});
