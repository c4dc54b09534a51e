// A night in a fleet of 6,000: every reading is 0 for ten minutes. It is named within two
// intervals, with one message, and over within one; half an hour of calm before it never names it. Real processes and stores.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 6_000;
const INTERVAL_S = 60;
const CALM_MS = 30 * 60_000;
const PATIENCE = { timeout: 65 * 60_000 };
const DEAD_MS = 10 * 60_000;

let gateway: ScriptedGateway;
let fleet: Fleet;
let isDead = false;
const used = new Map<string, number>();
/** Texts of the messages, in order. */
const told: string[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    told.push(body);
    response.writeHead(204).end();
  });
});

beforeAll(async () => {
  await new Promise<void>((listens) => receiver.listen(0, '127.0.0.1', listens));
  gateway = await startScriptedGateway(({ interfaceName, iccid }) => {
    if (interfaceName !== 'flow') return { body: HEALTHY[interfaceName] };
    const mb = (used.get(iccid) ?? 100 + (Number(iccid.slice(-5)) % 200)) + 0.01;
    used.set(iccid, mb);
    return { body: { used: isDead ? 0 : mb } };
  });
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_WEBHOOKS_ALLOW_CIDRS: '127.0.0.0/8', CARDPOLL_LOG_LEVEL: 'warn' },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(INTERVAL_S);
  const { port } = receiver.address() as AddressInfo;
  await fleet.cli('alerts', 'recommended', '--apply', '--webhook-url', `http://127.0.0.1:${port}/hook`);
  await fleet.importCards(CARDS, () => 1_000);
  await waitFor(() => used.size === CARDS, { timeoutMs: 300_000, what: 'a reading of every card' });
});
afterAll(async () => {
  fleet?.close();
  receiver.close();
  await gateway?.close();
});

const isNamed = async () => {
  const { health_reasons: reasons } = await fleet.get<OverviewBody>('/api/admin/polling-stats');
  return reasons.some(({ code }) => code === 'readings_dead');
};
const messages = () => told.filter((body) => body.includes('readings of the last'));

async function never(ms: number): Promise<void> {
  const since = performance.now();
  await waitFor(
    async () => {
      expect(await isNamed()).toBe(false);
      return performance.now() - since > ms;
    },
    { everyMs: 5_000, timeoutMs: 2 * ms, what: 'a calm time' },
  );
}

async function within(seconds: number, wanted: boolean): Promise<number> {
  const since = performance.now();
  await waitFor(async () => (await isNamed()) === wanted, {
    everyMs: 1_000,
    timeoutMs: 1_000 * seconds,
    what: wanted ? 'the reason' : 'the end of the reason',
  });
  return Math.round((performance.now() - since) / 1_000);
}

it('a calm fleet is never said to have dead readings', PATIENCE, () => never(CALM_MS));

it(
  'a dead reading is named within two intervals, sent once, and over within one',
  PATIENCE,
  async ({ annotate }) => {
    isDead = true;
    const named = await within(2 * INTERVAL_S + 15, true);
    const since = performance.now();
    await waitFor(() => performance.now() - since > DEAD_MS, {
      everyMs: 5_000,
      timeoutMs: 2 * DEAD_MS,
      what: 'the night',
    });
    expect(await isNamed()).toBe(true);
    expect(messages()).toHaveLength(1);
    expect(gateway.calls.stop ?? 0, 'no card is stopped').toBe(0);
    isDead = false;
    const over = await within(INTERVAL_S + 15, false);
    await annotate(`named after ${named} s, over after ${over} s, ${messages().length} messages of it`);
  },
);
