// A gateway that acknowledges stops at once and shows them 5 to 30 seconds later, and starts after some seconds: an operator
// takes all stops back with one command, while the leader dies. The run is over when the gateway, by its own count, shows
// every card running, but for those whose start it refuses, which are named.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { ResumeRunBody } from '../../src/resources/stops.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type Script, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = Number(process.env.CARDPOLL_TEST_LATE_STOPS ?? 400);
const REFUSED = [3, 4];
const REFUSED_ICCIDS = REFUSED.map(demoIccid);
const START_SHOWS_AFTER_MS = 3_000;

let gateway: ScriptedGateway;
let fleet: Fleet;
const stopped = new Set<string>();
/** Cards whose stop was acknowledged. */
const called = new Set<string>();
let pending = 0;

function later(ms: number, effect: () => void): void {
  pending += 1;
  setTimeout(() => {
    pending -= 1;
    effect();
  }, ms);
}

const script: Script = ({ interfaceName, iccid }) => {
  if (interfaceName === 'flow') return { body: { used: 5_000 } };
  if (interfaceName === 'card_status')
    return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
  if (interfaceName === 'stop') {
    later(5_000 + (called.size % 26) * 1_000, () => stopped.add(iccid));
    called.add(iccid);
  }
  if (interfaceName === 'start') {
    if (REFUSED_ICCIDS.includes(iccid)) return { body: '{"code":5001,"msg":"contract ended"}' };
    later(START_SHOWS_AFTER_MS, () => stopped.delete(iccid));
  }
  return { body: HEALTHY[interfaceName] };
};

beforeAll(async () => {
  gateway = await startScriptedGateway(script);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: {
      CARDPOLL_STOPS_MAX_PER_HOUR: 'none',
      CARDPOLL_STOPS_MAX_PER_DAY: 'none',
      CARDPOLL_USAGE_MAX_MBIT_PER_SECOND: '100000',
      CARDPOLL_LEASE_MS: '5000',
      CARDPOLL_GATEWAY_TIMEOUT_MS: '1000',
    },
  });
  await fleet.startDaemon();
  await fleet.setLimits(100);
  await fleet.setIntervals(5);
  await fleet.importCards(CARDS, () => 100);
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
});

async function admin(method: string, path: string, json?: unknown) {
  const response = await fetch(`${fleet.daemons.at(-1)?.url}/api/admin${path}`, {
    method,
    ...(json === undefined
      ? {}
      : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }),
  });
  return (await response.json()) as ResumeRunBody;
}

it('has every card run again with one command', async () => {
  await waitFor(() => called.size === CARDS, { timeoutMs: 120_000, what: 'all stops to be called' });
  await admin('PUT', '/stops/mode', { mode: 'observe', reason: 'wrong readings' });
  const since = new Date(Date.now() - 3_600_000);
  const ordered = () => admin('POST', '/stops/resume', { since, reason: 'wrong readings' });
  const [first, second] = await Promise.all([ordered(), ordered()]);

  await waitFor(() => (gateway.calls.start ?? 0) > CARDS / 10, {
    timeoutMs: 60_000,
    what: 'the first starts',
  });
  await fleet.daemons.at(-1)?.process.stop('SIGKILL');
  await fleet.startDaemon();

  const runs = await waitFor(
    async () => {
      const now = await Promise.all([first, second].map(({ id }) => admin('GET', `/stops/resume/${id}`)));
      return now.every(({ status }) => status === 'completed') ? now : null;
    },
    { timeoutMs: 240_000, everyMs: 500, what: 'both runs to end' },
  );
  // Before anything else can happen: what the gateway shows when the runs say that they are over.
  expect([...stopped].toSorted()).toEqual(REFUSED_ICCIDS);
  expect(pending).toBe(0);
  const sum = (of: (run: ResumeRunBody) => number) => runs.reduce((total, run) => total + of(run), 0);
  expect(sum(({ total }) => total)).toBe(CARDS);
  expect(sum(({ cut_off }) => cut_off)).toBe(REFUSED.length);
  expect(runs.flatMap(({ not_resumed }) => not_resumed).toSorted((a, b) => a.card_id - b.card_id)).toEqual(
    REFUSED.map((card_id) => ({
      card_id,
      state: 'failed',
      error: expect.stringContaining('contract ended'),
    })),
  );
});
