// A gateway shows eight times the usage from one moment on, for good. Growth is as before after one interval, and no customer is over the
// package: what the watch of jumps held stays held until the unit is right again, and then no card is stopped. As the gateway counts.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type Script, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 1_200;
const ALLOWANCE_MB = 500;
const INTERVAL_S = 20;
const FACTOR = 8;
/** The jump is seen when the minutes of its readings are over, and growth is as before when they have left the window. */
const WINDOW_MS = 150_000;

let gateway: ScriptedGateway;
let fleet: Fleet;
let factor = 1;
const readings = new Map<string, number>();
const stopped = new Set<string>();

const script: Script = ({ interfaceName, iccid }) => {
  if (interfaceName === 'flow') {
    const used = (readings.get(iccid) ?? 100 + (Number(iccid.slice(-4)) % 40)) + 0.01;
    readings.set(iccid, used);
    return { body: { used: used * factor } };
  }
  if (interfaceName === 'card_status')
    return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
  if (interfaceName === 'stop') stopped.add(iccid);
  return { body: HEALTHY[interfaceName] };
};

beforeAll(async () => {
  gateway = await startScriptedGateway(script);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_STOPS_MAX_PER_HOUR: 'none', CARDPOLL_STOPS_MAX_PER_DAY: 'none' },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(INTERVAL_S);
  await fleet.importCards(CARDS, () => ALLOWANCE_MB);
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
});

const stats = () => fleet.get<OverviewBody>('/api/admin/polling-stats');
const jump = async () => (await stats()).health_reasons.find(({ code }) => code === 'usage_jump');

it('a step to another level stops no customer once the watch has seen it, however long it lasts', async ({
  annotate,
}) => {
  await waitFor(() => readings.size === CARDS, { what: 'a reading of every card' });
  // Enough growth to measure the jump against.
  const since = performance.now();
  await waitFor(() => performance.now() - since > WINDOW_MS, {
    timeoutMs: 2 * WINDOW_MS,
    what: 'usual growth',
  });
  factor = FACTOR;
  await waitFor(async () => (await jump()) !== undefined, { everyMs: 200, what: 'the jump to be seen' });
  await waitFor(async () => (await jump())?.text.includes('stepped') === true, {
    everyMs: 1_000,
    timeoutMs: 4 * WINDOW_MS,
    what: 'growth as before, on another level',
  });
  const calls = gateway.calls.stop;
  await annotate(`${calls} of ${CARDS} customers were cut before the jump was seen`);
  const wrong = performance.now();
  await waitFor(() => performance.now() - wrong > WINDOW_MS, {
    timeoutMs: 2 * WINDOW_MS,
    what: 'some more readings',
  });
  expect(gateway.calls.stop).toBe(calls);
  factor = 1;
  await waitFor(async () => (await jump()) === undefined && (await stats()).stops.held === 0, {
    everyMs: 500,
    timeoutMs: 4 * WINDOW_MS,
    what: 'the level to be back',
  });
  expect(gateway.calls.stop).toBe(calls);
});
