// A hundred thousand held stops are released at once, while two daemons poll, the gateway refuses, loses and rejects some of the calls
// and one of the daemons is killed: every card is stopped in the end, and each once, as the gateway counts. It notes
// the pace of the polls before and with it.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MonthCalendar } from '../../src/domain/cards/month-calendar.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { seededRandom } from '../support/gzip-damage.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import {
  type Script,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/scripted-gateway.ts';

const CARDS = 100_000;
/** Slots of each type. */
const LIMIT = 40;
/** Polls of package take less than half of the slots: 100 a second, of some 50 ms. */
const INTERVAL_S = 1_000;
const ANSWER_MS = 20;
const PACE_OVER_MS = 60_000;
/** Ten minutes on a quiet machine with two cores, and up to three times as long on a busy one. */
const PATIENCE_MS = 40 * 60_000;

let gateway: ScriptedGateway;
let fleet: Fleet;
const random = seededRandom(7);
const stopped = new Set<string>();
/** Stops that changed something. */
let effective = 0;

const script: Script = (call) => ({ delayMs: ANSWER_MS, ...answer(call) });

function answer({ interfaceName, iccid }: ScriptedCall): ScriptedAnswer {
  if (interfaceName === 'flow') return { body: { used: 100 } };
  if (interfaceName === 'card_status')
    return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
  if (interfaceName !== 'stop') return { body: HEALTHY[interfaceName] };
  const fate = random();
  if (fate < 0.02) return { status: 503, body: '{"code":503,"msg":"busy"}' };
  if (fate < 0.03) return { body: '{"code":5001,"msg":"not now"}' };
  if (!stopped.has(iccid)) effective += 1;
  stopped.add(iccid);
  // The answer comes after the timeout.
  return fate < 0.04 ? { body: null, delayMs: 1_500 } : { body: null };
}

beforeAll(async () => {
  gateway = await startScriptedGateway(script);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: {
      CARDPOLL_STOPS_MAX_PER_HOUR: '0',
      CARDPOLL_LEASE_MS: '5000',
      CARDPOLL_GATEWAY_TIMEOUT_MS: '1000',
      CARDPOLL_LOG_LEVEL: 'warn',
    },
  });
  await fleet.startDaemon();
  await fleet.startDaemon();
  await fleet.setLimits(LIMIT);
  await fleet.setIntervals(INTERVAL_S);
  // Their usage stays as it is: only the status is polled.
  for (const id of ['1', '2', '3']) await fleet.cli('configs', 'disable', id, '--yes');
  await fleet.importCards(CARDS, () => 10);
  await hold();
});
afterAll(async () => {
  fleet?.close();
  await gateway?.close();
});

/** Every card is over its package, and its stop is held: what a fleet-wide jump leaves behind. */
async function hold(): Promise<void> {
  const database = new pg.Client({ connectionString: fleet.databaseUrl });
  await database.connect();
  const month = new MonthCalendar('Asia/Shanghai').monthOf(Date.now());
  await database.query(
    `INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at)
     SELECT card_id, $1, 100, 100, now() FROM cards ON CONFLICT DO NOTHING`,
    [`${month}-01`],
  );
  await database.query(
    `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, held_by)
     SELECT card_id, $1, iccid, 100, 10, 'held', 'budget_hour' FROM cards ON CONFLICT DO NOTHING`,
    [`${month}-01`],
  );
  await database.end();
}

/** @returns polls of package a second of each daemon, as its own metrics count. */
async function pace(): Promise<number[]> {
  const before = await Promise.all(fleet.daemons.map(polls));
  const since = performance.now();
  await sleep(PACE_OVER_MS);
  const after = await Promise.all(fleet.daemons.map(polls));
  return after.map((count, at) => (1_000 * (count - (before[at] ?? 0))) / (performance.now() - since));
}

async function polls({ url }: Daemon): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(/^cardpoll_poll_duration_seconds_count\{.*task_type="package".*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

const total = async (state: string) =>
  (await fleet.get<{ total: number }>(`/api/admin/stops?state=${state}&page_size=1`)).total;

it('stops every card once', { timeout: PATIENCE_MS }, async ({ annotate }) => {
  const alone = await pace();
  const patience = { everyMs: 2_000, timeoutMs: PATIENCE_MS };
  const { stdout } = await fleet.cli('stops', 'release', '--all', '--reason', 'all are right', '--yes');
  expect(stdout).toContain('100,000');
  await waitFor(() => effective > CARDS / 50, { ...patience, what: 'the first stops' });
  const [before, since] = [effective, performance.now()];
  const together = await pace();
  const stops = (1_000 * (effective - before)) / (performance.now() - since);
  const shown = (each: readonly number[]) => each.map((polls) => polls.toFixed(0)).join(' and ');
  await annotate(
    `polls a second: ${shown(alone)}, next to ${stops.toFixed(0)} stops a second: ${shown(together)}`,
  );
  await waitFor(() => effective > CARDS / 4, { ...patience, what: 'a quarter of the stops' });
  fleet.daemons[0]?.process.signal('SIGKILL');
  await fleet.startDaemon();
  await waitFor(async () => (await total('done')) === CARDS, { ...patience, what: 'every stop to be done' });
  expect(effective).toBe(CARDS);
});
