// What calls say where the name of the gateway cannot be looked up.
import dns from 'node:dns';
import { afterEach, expect, it, vi } from 'vitest';
import { loadGatewayConfig } from '../../../../src/config/load-config.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';

const CARD = { cardId: 7, iccid: '89860000000000000071', carrierId: 3 };
const deps = { clock: systemClock, calendar: new MonthCalendar('UTC'), proxies: NO_PROXIES };

afterEach(() => vi.restoreAllMocks());

/** @param answer of the name server; absent: none. */
async function failureWhere(url: string, answer?: Error): Promise<unknown> {
  const lookup = (...[, , callback]: unknown[]) => answer && (callback as (error: Error) => void)(answer);
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
  const { gateway } = await loadGatewayConfig({ flags: { '--gateway-url': url }, env: {} });
  const client = new GatewayClient(gateway, { ...deps, log: silentLogger() });
  try {
    return await client.call('flow', CARD, 700).catch((error: unknown) => error);
  } finally {
    await client.close();
  }
}

it('a name that is not found is named, and a name server without an answer, but no address', async () => {
  const unknown = Object.assign(new Error('getaddrinfo ENOTFOUND gw.test'), { code: 'ENOTFOUND' });
  expect(await failureWhere('http://gw.test', unknown)).toMatchObject({ failure: 'connect', kind: 'name' });
  expect(await failureWhere('http://gw.test')).toMatchObject({
    ...{ failure: 'connect', kind: 'name', message: 'no name server answers for gw.test' },
  });
  expect(await failureWhere('http://127.0.0.1:1')).toMatchObject({ failure: 'connect', kind: 'refused' });
});
