// A month that turns while cards are stopped, with Redis, PostgreSQL and the daemon at the same pretended time.
import { isDeepStrictEqual } from 'node:util';
import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { FakeTime } from '../support/fake-time.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';
import { type Script, startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 90;
const ALLOWANCE_MB = 500;

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it('resumes every card that was stopped in the old month once, also where the answer to the stop was lost', async () => {
  const time = new FakeTime();
  let aheadMs = 0;
  const setTime = (at: string) => {
    aheadMs = Date.parse(`${at}+08:00`) - Date.now();
    time.set(aheadMs);
  };
  setTime('2026-11-30T23:59:00');
  const isAfter = (at: string) => Date.now() + aheadMs >= Date.parse(`${at}+08:00`);
  const isNewMonth = () => isAfter('2026-12-01T00:00:00');

  let late = false;
  const iccids = Array.from({ length: CARDS }, (_, i) => demoIccid(i + 1));
  /** A third is over its package from the start, a third late in the month; the rest never. */
  const usedMb = (iccid: string): number => {
    const third = iccids.indexOf(iccid) % 3;
    const isOver = !isNewMonth() && (third === 0 || (third === 1 && late));
    return isOver ? ALLOWANCE_MB + 1 : 1;
  };
  const stopped = new Set<string>();
  const script: Script = ({ interfaceName, iccid }) => {
    if (interfaceName === 'flow') return { body: { used: usedMb(iccid) } };
    if (interfaceName === 'card_status')
      return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
    if (interfaceName === 'start') stopped.delete(iccid);
    if (interfaceName !== 'stop') return { body: HEALTHY[interfaceName] };
    stopped.add(iccid);
    return { body: null, delayMs: late ? 5_000 : 0 };
  };
  const gateway = await startScriptedGateway(script);
  closing.push(() => gateway.close());
  const postgres = await startPostgres({ env: time.env });
  closing.push(() => postgres.stop());
  const fleet = await Fleet.start({
    postgres,
    redisEnv: time.env,
    gatewayUrl: gateway.url,
    env: {
      ...time.env,
      CARDPOLL_STOPS_RESUME_AT_MONTH_START: 'on',
      CARDPOLL_STOPS_MAX_PER_HOUR: 'none',
      CARDPOLL_STOPS_MAX_PER_DAY: 'none',
      CARDPOLL_LEASE_MS: '15000',
      CARDPOLL_GATEWAY_TIMEOUT_MS: '2000',
    },
  });
  closing.push(() => fleet.close());
  const records = new pg.Client({ connectionString: fleet.databaseUrl });
  await records.connect();
  closing.push(() => records.end());
  const rows = async (sql: string) => (await records.query(sql)).rows;

  await fleet.startDaemon();
  await fleet.importCards(CARDS, () => ALLOWANCE_MB);
  await fleet.setIntervals(5);
  await waitFor(async () => stopped.size === CARDS / 3, { what: 'the gateway to stop a third' });
  await waitFor(async () => isAfter('2026-11-30T23:59:54'), { what: 'six seconds before midnight' });
  late = true;
  await waitFor(async () => isNewMonth(), { what: 'the turn of the month' });
  const requested = await rows("SELECT FROM card_stops WHERE state = 'requested'");
  expect(requested, 'no answer was lost').not.toEqual([]);
  await waitFor(async () => isAfter('2026-12-01T00:00:02'), {
    what: 'the end of all calls of the old month',
  });
  const over = stopped.size;
  const states =
    "SELECT to_char(month, 'YYYY-MM') AS month, state, count(*)::int AS cards FROM card_stops GROUP BY 1, 2";
  const recorded = (state: string) =>
    waitFor(async () => isDeepStrictEqual(await rows(states), [{ month: '2026-11', state, cards: over }]), {
      what: `all stops to be recorded as ${state}`,
    });
  await recorded('done');

  setTime('2026-12-01T00:01:10');
  const expected = 'SELECT expected::int FROM resume_runs';
  await waitFor(async () => (await rows(expected)).length === 1, { what: 'the run of the month' });
  expect(await rows(expected)).toEqual([{ expected: over }]);

  setTime('2026-12-01T04:30:00');
  await waitFor(async () => stopped.size === 0, { what: 'the gateway to start all again' });
  await recorded('resumed');
  const callsOf = (name: string) =>
    [...gateway.callsOf].filter(([key]) => key.startsWith(`${name} `)).map(([, n]) => n);
  expect(callsOf('stop')).toEqual(Array(over).fill(1));
  expect(callsOf('start')).toEqual(Array(over).fill(1));
});
