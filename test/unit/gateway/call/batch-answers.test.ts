// A call for several cards: each gets its own answer, in the order it was asked in, whichever cards are asked twice, are left out by the
// gateway or come in another order.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadGatewayConfig } from '../../../../src/config/load-config.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { demoIccid } from '../../../../src/gateway/simulate/simulated-fleet.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { silentLogger } from '../../../../src/platform/logger.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, type BadGateway, startBadGateway } from '../../../support/bad-gateway.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const PROFILE = `
interfaces:
  flow:
    method: GET
    path: /usage
    query: { cards: "{iccids}" }
    value: used
    batch: { size: 10, items: list, iccid: no }
`;
const usedBy = (cardId: number) => 100 + cardId / 8;

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function open(answered: readonly number[]): Promise<[BadGateway, GatewayClient]> {
  const list = answered.map((cardId) => ({ no: demoIccid(cardId), used: usedBy(cardId) }));
  const gateway = await startBadGateway(answer(200, JSON.stringify({ list })));
  const path = join(temporaryDirectory('batch'), 'batch.yaml');
  writeFileSync(path, PROFILE);
  const { gateway: config } = await loadGatewayConfig({
    flags: { '--gateway-url': gateway.url, '--gateway-profile': path },
    env: {},
  });
  const client = new GatewayClient(config, {
    log: silentLogger(),
    clock: systemClock,
    calendar: new MonthCalendar('UTC'),
    proxies: NO_PROXIES,
  });
  opened.push(
    () => gateway.close(),
    () => client.close(),
  );
  return [gateway, client];
}

it.each<[string, number[], number[]]>([
  ['each is asked once', [1, 2, 3], [1, 2, 3]],
  ['the first is asked twice', [1, 1, 2, 3], [1, 2, 3]],
  ['one in the middle is asked three times', [4, 2, 1, 2, 2, 3], [1, 2, 3, 4]],
  ['all are asked twice, in turn', [1, 2, 1, 2], [2, 1]],
  ['one that is asked twice is left out', [1, 3, 1, 2, 3], [2, 3]],
  ['the gateway answers for another card as well', [2, 2, 1], [9, 1, 2]],
])('each card gets its own answer if %s', async (_, asked, answered) => {
  const [gateway, client] = await open(answered);
  const cards = asked.map((cardId) => ({ cardId, iccid: demoIccid(cardId), carrierId: 1 }));
  const answers = await client.callBatch('flow', cards, 5_000);
  const values = answers.map((one) => ('value' in one ? one.value : one.failure));
  expect(values).toEqual(asked.map((cardId) => (answered.includes(cardId) ? usedBy(cardId) : 'card')));
  expect(gateway.requests.length).toBe(1);
});
