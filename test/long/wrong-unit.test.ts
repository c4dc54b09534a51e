// A gateway shows 1,024 times too much for a while, to a fleet whose settings believe any growth: the budget bounds the
// damage, the screen says what happens, the months are right again when the readings are, and one command brings every
// stopped card back. Real processes and stores; what was called is what the gateway counted.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { OverviewBody } from '../../src/resources/stats.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type Script, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 1_000;
const ALLOWANCE_MB = 500;
/** The budget of the fleet (test/support/fleet.ts). */
const BUDGET = 100;

let gateway: ScriptedGateway;
let fleet: Fleet;
/** What the gateway multiplies readings with. */
let factor = 1;
const stopped = new Set<string>();
const effective = { stop: [] as string[], start: [] as string[] };
const readings = new Map<string, number>();

const script: Script = ({ interfaceName, iccid }) => {
  if (interfaceName === 'flow') {
    const used = (readings.get(iccid) ?? 20 + (Number(iccid.slice(-4)) % 400)) + 0.01;
    readings.set(iccid, used);
    return { body: { used: used * factor } };
  }
  if (interfaceName === 'card_status')
    return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
  if (interfaceName === 'stop' && !stopped.has(iccid)) effective.stop.push(iccid);
  if (interfaceName === 'stop') stopped.add(iccid);
  if (interfaceName === 'start' && stopped.delete(iccid)) effective.start.push(iccid);
  return { body: HEALTHY[interfaceName] };
};

beforeAll(async () => {
  gateway = await startScriptedGateway(script);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_USAGE_MAX_MBIT_PER_SECOND: '1000000' },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(5);
  await fleet.importCards(CARDS, () => ALLOWANCE_MB);
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
});

const done = async () =>
  (await fleet.get<{ total: number }>('/api/admin/stops?state=done&page_size=1')).total;
const stats = () => fleet.get<OverviewBody>('/api/admin/polling-stats');

it('stops no more than the budget, and everything is as before afterwards', async () => {
  await waitFor(() => readings.size === CARDS, { what: 'a reading of every card' });
  factor = 1_024;
  const held = await waitFor(
    async () => {
      const body = await stats();
      return (body.stops.held ?? 0) >= CARDS - BUDGET ? body : null;
    },
    { everyMs: 500, what: 'every stop beyond the budget to be held' },
  );
  // A stop may still be on its way when all others are held.
  await waitFor(async () => (await done()) === BUDGET, { everyMs: 200, what: 'the budget to be used up' });
  expect(effective.stop).toHaveLength(BUDGET);
  expect(held.stops).toMatchObject({ done_hour: BUDGET, budget_hour: BUDGET, held: CARDS - BUDGET });
  expect(held.health_reasons).toContainEqual(
    expect.objectContaining({ code: 'stops_held', command: expect.stringContaining('cardpoll stops') }),
  );

  factor = 1;
  await waitFor(async () => (await stats()).stops.held === 0, {
    everyMs: 500,
    what: 'no stop to be wanted any more',
  });
  await waitFor(
    async () => {
      const cards = await Promise.all(
        [1, 350, 750, CARDS].map((id) => fleet.get<{ used_mb_month: number }>(`/api/admin/cards/${id}`)),
      );
      return cards.every((card) => card.used_mb_month < ALLOWANCE_MB);
    },
    { everyMs: 500, what: 'the months to be right again' },
  );
  await fleet.cli('stops', 'resume', '--since', '1h', '--reason', 'the unit was wrong', '--yes', '--wait');
  expect(effective.start.toSorted()).toEqual(effective.stop.toSorted());
  expect(new Set(effective.start).size).toBe(BUDGET);
  expect(stopped.size).toBe(0);
  await waitFor(async () => (await stats()).stops.resumed_day === BUDGET, {
    everyMs: 500,
    what: 'the statistics to tell of the resumed cards',
  });
  expect((await stats()).stops.held).toBe(0);
  const { used_mb_month: used } = await fleet.get<{ used_mb_month: number }>('/api/admin/cards/7');
  expect(used).toBeCloseTo(readings.get(demoIccid(7)) ?? 0, 0);
});
