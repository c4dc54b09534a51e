// Package polls and orders against a real gateway, a real database and a real cache: one stop a card and month, whatever happens, and
// none for a card that is not over its package; one call for each order to stop or resume a card.
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/domain/audit.ts';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { ConfigMatcher } from '../../../../src/domain/schedule/polling-config.ts';
import type { StopRules } from '../../../../src/domain/stops/stop.ts';
import { OrderCalls, type OrderCallsDeps } from '../../../../src/engine/orders/order-calls.ts';
import { orderWantedStops } from '../../../../src/engine/orders/wanted-stops.ts';
import { PackageTask } from '../../../../src/engine/tasks/package.ts';
import { CardReader } from '../../../../src/engine/work/card-reader.ts';
import { Deadline } from '../../../../src/engine/work/task.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { type Clock, systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { PostgresClient } from '../../../../src/store/postgres/record-store.ts';
import { openRedisLiveStore } from '../../../../src/store/redis/live-store.ts';
import { sqlRecordStore } from '../../../../src/store/sql/sql-record-store.ts';
import { cardRow } from '../../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../../support/fresh-stores.ts';
import { gatewayConfig } from '../../../support/gateway-config.ts';
import { HEALTHY } from '../../../support/healthy-answers.ts';
import { filledRun } from '../../../support/resume-run.ts';
import {
  broken,
  type Script,
  type ScriptedGateway,
  startScriptedGateway,
} from '../../../support/scripted-gateway.ts';
import { UNLIMITED } from '../../../support/stop-rules.ts';

const LEASE_MS = 15_000;
const CACHE_MS = 600_000;
const calendar = new MonthCalendar('Asia/Shanghai');

let client: PostgresClient;
let records: RecordStore;
let live: LiveStore;
let scripted: ScriptedGateway;
let gateway: GatewayClient;
let reader: CardReader;
let cardId = 0;
/** How far this process's clock is ahead: a pause. */
let pausedMs = 0;
const clock: Clock = {
  ...systemClock,
  now: () => Date.now() + pausedMs,
  monotonic: () => performance.now() + pausedMs,
};
let stopRules: StopRules = UNLIMITED;
/** What the gateway shows of the card, and whether its interfaces stop and start do anything. */
let running = true;
let stopWorks = true;
let startWorks = true;
const logged: string[] = [];
const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });

const script: Script = ({ interfaceName }) => {
  if (interfaceName === 'card_status') return { body: { cardStatus: running ? 'active' : 'stopped' } };
  if (interfaceName === 'stop' && stopWorks) running = false;
  if (interfaceName === 'start' && startWorks) running = true;
  return { body: HEALTHY[interfaceName] };
};

beforeAll(async () => {
  client = new PostgresClient({ url: await freshDatabase(), applicationName: 'cardpoll', maxConnections: 4 });
  records = sqlRecordStore('postgres', client);
  await records.migrations.up();
  live = await openRedisLiveStore({ url: (await freshRedis()).url });
  reader = new CardReader(live.cards, records.cards, CACHE_MS, systemClock);
  scripted = await startScriptedGateway(script);
  const quiet = pino({ level: 'silent' });
  const ofCall = { pending: { path: 'data.job', values: ['queued'], forMs: 600_000 } };
  const ofStatus = { pending: { path: null, values: ['changing'], forMs: 600_000 } };
  const interfaces = { stop: ofCall, start: ofCall, card_status: ofStatus };
  gateway = new GatewayClient(gatewayConfig({ url: scripted.url, interfaces }), {
    log: quiet,
    clock: systemClock,
    calendar,
    proxies: NO_PROXIES,
  });
});
afterAll(async () => {
  await gateway.close();
  await scripted.close();
  await live.close();
  await records.close();
});

/** A card that used 11 of 10 MB, cached as workers cache it. */
beforeEach(async () => {
  cardId += 1;
  pausedMs = 0;
  stopRules = UNLIMITED;
  [running, stopWorks, startWorks] = [true, true, true];
  logged.length = 0;
  entries.length = 0;
  scripted.forget();
  scripted.follow(script);
  await records.cards.importChunk([cardRow(cardId, { realNameVerified: true, allowanceMb: 10 })]);
  const readAtMs = Date.now();
  const next = {
    month: calendar.monthOf(readAtMs),
    usedMb: 11,
    lastReadingMb: 11,
    suspectedMb: null,
    jump: null,
    readAtMs,
  };
  await records.results.write([
    { cardId, taskType: 'carddata', polledAtMs: readAtMs, usage: { next, basedOnReadAtMs: null } },
  ]);
  await cached();
});

async function cached(): Promise<Card> {
  return (await reader.read([cardId])).get(cardId) as Card;
}

/** Entries of the audit trail. */
const entries: AuditEntry[] = [];
const audit = { log: (entry: AuditEntry) => void entries.push(entry) };

type Records = OrderCallsDeps['records'];

const matcher = new ConfigMatcher([
  {
    ...{ id: 1, name: 'package', taskType: 'package', cardCondition: 'any', carrierId: null },
    ...{ intervalSeconds: 1_800, priority: 0, status: 1 },
  },
]);
const fleetNow = () => Date.now();

/** Polls the card as it is cached, writes what was found, and orders its stop, as the engine does. */
async function poll() {
  const task = new PackageTask({ gateway, records, audit, calendar, log });
  const result = await task.poll(
    await cached(),
    new Deadline(clock, clock.monotonic(), LEASE_MS, Date.now()),
  );
  await records.results.write([result.outcome]);
  if (result.outcome.stopped !== undefined) await reader.forget([cardId]);
  const over = result.outcome.overPackage ? [cardId] : [];
  const rules = { records, offers: () => true, calendar, matcher: () => matcher, stopRules: () => stopRules };
  await orderWantedStops({ ...rules, fleetNow, log }, over);
  return result;
}

/** Carries out what is due for the card. @returns how many orders that were. */
async function carryOut(differing: Partial<Records> = {}): Promise<number> {
  const calls = new OrderCalls({
    ...{ gateway, audit, reader, calendar, fleetNow, clock, log, leaseMs: LEASE_MS },
    records: { stops: records.stops, resumes: records.resumes, ...differing },
    stopRules: () => stopRules,
  });
  const turn = { most: 1_000, resumesFirst: 0, stops: true, resumes: true, mode: stopRules.mode };
  const taken = await records.orders.take(turn, LEASE_MS);
  const own = taken.filter((order) => order.cardId === cardId);
  for (const order of own) await calls.carryOut(order, (name) => gateway.gather(name, LEASE_MS));
  return own.length;
}

/** A poll, and the orders that are due then. */
async function turn() {
  const { fields } = await poll();
  await carryOut();
  return fields;
}

const isStopped = async () => (await records.cards.find(String(cardId)))?.stopped;
const stopRow = async () =>
  (await client.query('SELECT state, unconfirmed FROM card_stops WHERE card_id = $1', [cardId]))[0];
/** The pause after a call without effect, or the lease of a claim, is over. */
const pausePasses = async (table: 'card_stops' | 'card_resumes' = 'card_stops') => {
  const now = 'clock_timestamp()';
  await client.query(
    `UPDATE ${table} SET claimed_until = CASE WHEN claimed_until IS NOT NULL THEN ${now} END, due_at = ${now}
      WHERE card_id = $1`,
    [cardId],
  );
};
/** An interface answers as given, and does nothing. */
const answering = (name: 'stop' | 'start', answer: ReturnType<Script>): Script => {
  return (call) => (call.interfaceName === name ? answer : script(call));
};
const REFUSED = { body: '{"code":5001,"msg":"no"}' };
const BY = { by: 'alice', reason: 'the readings were wrong' };

it('stops a card over its package once, and logs when it is resumed', async () => {
  await turn();
  await turn();
  expect([scripted.calls.stop, await isStopped()]).toEqual([1, true]);
  expect(entries).toMatchObject([{ name: 'daemon', action: 'card.stop', object: `card ${cardId}` }]);

  running = true;
  expect(await turn()).toMatchObject({ over_package: true, stopped: false });
  await turn();
  expect([scripted.calls.stop, await isStopped()]).toEqual([1, false]);
  expect(logged).toEqual(['停机', '复机']);
});

it('does not call after a pause that outlasted its lease, and leaves the stop to the next turn', async () => {
  await poll();
  const claim: Records['stops']['claim'] = async (...args) => {
    const claimed = await records.stops.claim(...args);
    pausedMs = LEASE_MS;
    return claimed;
  };
  const { complete, acknowledge, abandon } = records.stops;
  await expect(carryOut({ stops: { claim, complete, acknowledge, abandon } })).rejects.toMatchObject({
    failure: 'held',
  });
  expect(scripted.calls.stop).toBe(0);
  await pausePasses();
  await carryOut();
  expect([scripted.calls.stop, await isStopped()]).toEqual([1, true]);
});

it('orders no stop of a card whose allowance was raised, although the cache still has the old one', async () => {
  await client.query('UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1', [cardId]);
  expect((await cached()).allowanceMb).toBe(10);
  await turn();
  expect([scripted.calls.stop, await stopRow()]).toEqual([0, undefined]);
});

it('drops the order of a card whose allowance is raised before its call', async () => {
  await poll();
  await client.query('UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1', [cardId]);
  expect(await carryOut()).toBe(1);
  expect([scripted.calls.stop, await stopRow()]).toEqual([0, undefined]);
  expect((await cached()).allowanceMb, 'the card is read again').toBe(5_000);
});

it('stops no card while a reading is suspected', async () => {
  await client.query('UPDATE card_usage SET suspected_mb = 0 WHERE card_id = $1', [cardId]);
  expect(await turn()).toMatchObject({ over_package: true, stopped: false });
  expect([scripted.calls.stop, await stopRow()]).toEqual([0, undefined]);
});

it('takes no acknowledgement for a stop: it is done when the gateway shows it', async () => {
  stopWorks = false;
  await turn();
  await turn();
  expect(scripted.calls.stop).toBe(1);
  expect(await stopRow()).toEqual({ state: 'requested', unconfirmed: 1 });
  expect(await isStopped()).toBe(false);
  expect(await records.stops.unconfirmed(), 'the vendor may need minutes').toBe(0);
  await client.query("UPDATE card_stops SET pending_since = pending_since - interval '3 minutes'");
  expect(await records.stops.unconfirmed()).toBe(1);

  await pausePasses();
  await turn();
  expect(scripted.calls.stop).toBe(2);
  expect(logged).toEqual(['stop_unconfirmed', 'stop_unconfirmed']);

  await pausePasses();
  stopWorks = true;
  await turn();
  await turn();
  expect([scripted.calls.stop, await isStopped()]).toEqual([3, true]);
  expect(logged.slice(2)).toEqual(['停机']);
  expect(await records.stops.unconfirmed()).toBe(0);
});

describe('while the vendor works on it, as it says', () => {
  /** The call is queued, and the status says so until the vendor is done. */
  const working = (name: 'stop' | 'start'): Script => {
    let isQueued = false;
    return (call) => {
      isQueued ||= call.interfaceName === name;
      if (call.interfaceName === name) return { body: { job: 'queued' } };
      return isQueued && call.interfaceName === 'card_status'
        ? { body: { cardStatus: 'changing' } }
        : script(call);
    };
  };
  const lookIsDue = (table: 'card_stops' | 'card_resumes') =>
    client.query(`UPDATE ${table} SET due_at = now() WHERE card_id = $1`, [cardId]);

  it('a stop is called once, no poll fails, and it is done when the gateway shows it', async () => {
    scripted.follow(working('stop'));
    await turn();
    expect(await turn()).toMatchObject({ over_package: true, stopped: false });
    await lookIsDue('card_stops');
    expect(await carryOut(), 'a look').toBe(1);
    expect(await carryOut(), 'the next look comes later').toBe(0);
    expect([scripted.calls.stop, await stopRow()]).toEqual([1, { state: 'requested', unconfirmed: 0 }]);
    expect(logged).toEqual(['order under way']);

    scripted.follow(script);
    running = false;
    await lookIsDue('card_stops');
    await carryOut();
    expect([scripted.calls.stop, await isStopped()]).toEqual([1, true]);
    expect(logged).toEqual(['order under way', '停机']);
  });

  it('a resume is called once, and ends when the gateway shows it', async () => {
    await turn();
    const { id } = await filledRun(records, { cardIds: [cardId] });
    scripted.follow(working('start'));
    await carryOut();
    await lookIsDue('card_resumes');
    expect(await carryOut(), 'a look').toBe(1);
    expect(scripted.calls.start).toBe(1);
    expect(await records.resumes.find(id)).toMatchObject({ waiting: 1 });

    scripted.follow(script);
    running = true;
    await lookIsDue('card_resumes');
    await carryOut();
    expect(scripted.calls.start).toBe(1);
    expect(await records.resumes.find(id)).toMatchObject({ resumed: 1 });
  });

  it('a resume of a card whose stop is under way waits for that stop', async () => {
    scripted.follow(working('stop'));
    await turn();
    const { id } = await filledRun(records, { cardIds: [cardId] });
    await client.query("UPDATE card_stops SET charged_at = charged_at - interval '2 minutes'");
    scripted.follow(script);
    await carryOut();
    expect(await records.resumes.find(id), 'it runs, and is to be stopped yet').toMatchObject({ waiting: 1 });
    running = false;
    await lookIsDue('card_resumes');
    await carryOut();
    expect([scripted.calls.stop, scripted.calls.start]).toEqual([1, 1]);
    expect(await records.resumes.find(id)).toMatchObject({ resumed: 1 });
  });
});

it('calls the SIM that the card has when its order is taken', async () => {
  await poll();
  const other = `8986${String(cardId).padStart(16, '7')}`;
  await client.query('UPDATE cards SET iccid = $2 WHERE card_id = $1', [cardId, other]);
  await carryOut();
  expect(scripted.calls.stop, 'no reading of the new SIM').toBe(0);
  expect(scripted.callsOf.get(`card_status ${other}`)).toBe(1);
});

it('completes a stop that shows later without a second call', async () => {
  stopWorks = false;
  await turn();
  running = false;
  await turn();
  expect(await isStopped()).toBe(true);
  expect(await stopRow()).toEqual({ state: 'done', unconfirmed: 1 });
  expect(logged).toEqual(['stop_unconfirmed', '停机']);

  running = true;
  await turn();
  expect([scripted.calls.stop, await isStopped()]).toEqual([1, false]);
});

it('completes an acknowledged stop later when the status cannot be asked at once', async () => {
  await poll();
  let called = false;
  scripted.follow((call) => {
    called ||= call.interfaceName === 'stop';
    return called && call.interfaceName === 'card_status' ? broken : script(call);
  });
  await expect(carryOut()).rejects.toMatchObject({ failure: 'http' });
  expect(await stopRow()).toEqual({ state: 'requested', unconfirmed: 0 });
  scripted.follow(script);
  await turn();
  expect([scripted.calls.stop, await isStopped()]).toEqual([1, true]);
  expect(logged).toEqual(['停机']);
});

it('keeps its claim when the result of the call is unknown, and gives it up when the call was refused', async () => {
  await poll();
  scripted.follow(answering('stop', broken));
  await expect(carryOut()).rejects.toMatchObject({ failure: 'http' });
  scripted.follow(script);
  expect(await carryOut(), 'the lost call may have been carried out').toBe(0);
  expect(scripted.calls.stop).toBe(1);

  await pausePasses();
  scripted.follow(answering('stop', REFUSED));
  await expect(carryOut()).rejects.toMatchObject({ failure: 'business' });
  scripted.follow(script);
  expect(await carryOut(), 'a pause').toBe(0);
  await pausePasses();
  await carryOut();
  expect([scripted.calls.stop, await isStopped()]).toEqual([3, true]);
});

it.each([
  ['the allowance was raised', 'UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1'],
  ['another month began', "UPDATE card_stops SET month = month - interval '1 month' WHERE card_id = $1"],
])('records a call whose answer was lost although %s since', async (_, change) => {
  await poll();
  scripted.follow((call) => {
    void script(call);
    return call.interfaceName === 'stop' ? broken : script(call);
  });
  await expect(carryOut()).rejects.toMatchObject({ failure: 'http' });
  scripted.follow(script);
  await client.query(change, [cardId]);
  await client.query('UPDATE card_usage SET used_mb = 1 WHERE card_id = $1', [cardId]);
  await reader.forget([cardId]);
  expect(await turn()).toMatchObject({ over_package: false, stopped: true });
  expect(await stopRow()).toMatchObject({ state: 'done' });
  expect(entries).toMatchObject([{ action: 'card.stop', object: `card ${cardId}` }]);
  expect([scripted.calls.stop, await isStopped()]).toEqual([1, true]);
  await turn();
  expect(logged).toEqual(['停机']);
});

it('remembers the stop of a card that had been stopped before', async () => {
  await client.query('UPDATE cards SET stopped = true WHERE card_id = $1', [cardId]);
  await reader.forget([cardId]);
  stopWorks = false;
  await turn();
  expect(await isStopped()).toBe(false);
  running = false;
  await turn();
  expect(await stopRow()).toMatchObject({ state: 'done' });
  running = true;
  await turn();
  expect(scripted.calls.stop).toBe(1);
  expect(logged).toEqual(['复机', 'stop_unconfirmed', '停机', '复机']);
});

it('takes no stop of another system for its own', async () => {
  await poll();
  running = false;
  await carryOut();
  expect([scripted.calls.stop, await isStopped(), await stopRow()]).toEqual([0, true, undefined]);
  expect([entries, logged]).toEqual([[], []]);
});

describe('a run', () => {
  let runId: string;

  /** The card was stopped, and waits in a run. */
  beforeEach(async () => {
    await turn();
    await ordersRun();
    [entries.length, logged.length] = [0, 0];
  });

  async function ordersRun(): Promise<void> {
    runId = (await filledRun(records, { cardIds: [cardId] })).id;
  }
  const run = () => records.resumes.find(runId);
  const starts = () => scripted.calls.start;

  it('resumes a card once, and the card is not stopped again', async () => {
    await carryOut();
    expect(await cached()).toMatchObject({ stopped: false });
    expect(await turn()).toMatchObject({ over_package: true, stopped: false });
    expect([scripted.calls.stop, starts(), running]).toEqual([1, 1, true]);
    expect(await run()).toMatchObject({ resumed: 1, waiting: 0 });
    expect(await stopRow()).toMatchObject({ state: 'resumed' });
    expect(entries).toMatchObject([{ name: 'alice', action: 'card.resume', after: { outcome: 'resumed' } }]);
    expect(logged).toEqual(['复机']);
  });

  it('goes on in mode observe', async () => {
    stopRules = { ...UNLIMITED, mode: 'observe' };
    await carryOut();
    expect([starts(), running]).toEqual([1, true]);
  });

  it('calls nothing for a card that was resumed by hand', async () => {
    running = true;
    await carryOut();
    expect([starts(), await isStopped()]).toEqual([0, false]);
    expect(await run()).toMatchObject({ alreadyRunning: 1, waiting: 0 });
    expect(await stopRow()).toMatchObject({ state: 'resumed' });
    expect(logged).toEqual(['复机']);
  });

  it('resumes once when the answer of the call is lost', async () => {
    scripted.follow((call) => {
      const answer = script(call);
      return call.interfaceName === 'start' ? broken : answer;
    });
    await expect(carryOut()).rejects.toMatchObject({ failure: 'http' });
    await pausePasses('card_resumes');
    await carryOut();
    expect([starts(), await isStopped()]).toEqual([1, false]);
    expect(await run(), 'it was the call').toMatchObject({ resumed: 1, alreadyRunning: 0 });
    expect(logged).toEqual(['复机']);
  });

  it('repeats a call whose answer was lost, and that had no effect, when its lease is over', async () => {
    scripted.follow(answering('start', broken));
    await expect(carryOut()).rejects.toMatchObject({ failure: 'http' });
    scripted.follow(script);
    expect([await carryOut(), starts()]).toEqual([0, 1]);
    await pausePasses('card_resumes');
    await carryOut();
    expect([starts(), running]).toEqual([2, true]);
  });

  it('gives up a card that is refused three times; it stays stopped', async () => {
    scripted.follow(answering('start', REFUSED));
    for (let i = 0; i < 3; i += 1) {
      await expect(carryOut()).rejects.toMatchObject({ failure: 'business' });
      expect(await carryOut(), 'a pause').toBe(0);
      await pausePasses('card_resumes');
    }
    expect(await run()).toMatchObject({ failed: 1, waiting: 0, lastError: expect.any(String) });
    expect(logged).toEqual(['resume failed, no more attempts']);
    scripted.follow(script);
    await turn();
    expect([starts(), await isStopped()]).toEqual([3, true]);
    expect(await stopRow()).toMatchObject({ state: 'done' });
  });

  it('does not count it against the card when the gateway refuses all', async () => {
    scripted.follow(answering('start', { status: 429 }));
    for (let i = 0; i < 4; i += 1) {
      await expect(carryOut()).rejects.toMatchObject({ failure: 'backpressure' });
      await pausePasses('card_resumes');
    }
    expect(await run()).toMatchObject({ waiting: 1 });
    scripted.follow(script);
    await carryOut();
    expect(running).toBe(true);
  });

  it('takes no acknowledgement for a resume: it is done when the gateway shows it', async () => {
    startWorks = false;
    await carryOut();
    expect(await carryOut(), 'a pause').toBe(0);
    expect([starts(), await isStopped()]).toEqual([1, true]);
    await pausePasses('card_resumes');
    await carryOut();
    expect(starts()).toBe(2);
    expect(logged).toEqual([]);

    running = true;
    await client.query('UPDATE card_resumes SET due_at = clock_timestamp() WHERE card_id = $1', [cardId]);
    await carryOut();
    expect([starts(), await isStopped()], 'it shows during the pause').toEqual([2, false]);
    expect(await run()).toMatchObject({ resumed: 1 });
    expect(logged).toEqual(['复机']);
  });

  it('has no call of a worker that was frozen past its lease, while another resumed the card', async () => {
    const claim: Records['resumes']['claim'] = async (...args) => {
      const claimed = await records.resumes.claim(...args);
      await pausePasses('card_resumes');
      await carryOut();
      expect(running).toBe(true);
      running = false;
      pausedMs = LEASE_MS;
      return claimed;
    };
    const { complete, acknowledge, abandon } = records.resumes;
    await expect(carryOut({ resumes: { claim, complete, acknowledge, abandon } })).rejects.toMatchObject({
      failure: 'held',
    });
    expect(starts()).toBe(1);
    expect(await run()).toMatchObject({ resumed: 1, lastError: null });
  });

  it('takes back a stop that shows late, also after the run has ended', async () => {
    const calledAgo = (seconds: number) =>
      client.query(
        `UPDATE card_stops SET state = 'requested', completed_at = NULL, claimed_until = clock_timestamp(),
           charged_at = clock_timestamp() - $2::integer * interval '1 second' WHERE card_id = $1`,
        [cardId, seconds],
      );
    await calledAgo(10);
    running = true;
    await carryOut();
    expect(await run(), 'its effect may come yet').toMatchObject({ waiting: 1, finishedAtMs: null });
    await calledAgo(61);
    await pausePasses('card_resumes');
    await carryOut();
    expect(await run()).toMatchObject({ alreadyRunning: 1, finishedAtMs: expect.any(Number) });

    running = false;
    expect(await poll(), 'it does come').toMatchObject({ fields: { stopped: true } });
    expect(await run()).toMatchObject({ alreadyRunning: 0, waiting: 1, finishedAtMs: null });
    await carryOut();
    expect([scripted.calls.stop, starts(), running]).toEqual([1, 1, true]);
    expect(await run()).toMatchObject({ resumed: 1, waiting: 0, finishedAtMs: expect.any(Number) });
    expect(entries.map(({ action }) => action)).toEqual(['card.resume', 'card.stop', 'card.resume']);
  });

  it('resumes a card whose stop was not recorded yet, and that stop does not follow', async () => {
    await client.query('DELETE FROM card_stops WHERE card_id = $1', [cardId]);
    await client.query('DELETE FROM resume_runs', []);
    await client.query('UPDATE cards SET stopped = false WHERE card_id = $1', [cardId]);
    await reader.forget([cardId]);
    running = true;
    await poll();
    scripted.follow((call) => {
      const answer = script(call);
      return call.interfaceName === 'stop' ? broken : answer;
    });
    await expect(carryOut(), 'the stop is made, its answer lost').rejects.toMatchObject({ failure: 'http' });
    await ordersRun();
    scripted.forget();
    await carryOut();
    await turn();
    expect([starts(), scripted.calls.stop, running]).toEqual([1, 0, true]);
    expect(logged).toEqual(['停机', '复机']);
  });
});

describe('an order to stop', () => {
  const order = async () => {
    expect(await records.stops.order(cardId, calendar.monthOf(Date.now()), BY)).toBe('ordered');
  };
  /** It has room in its package. */
  const within = () => client.query('UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1', [cardId]);

  it('stops a card within its package, once', async () => {
    await within();
    await order();
    await carryOut();
    expect(entries).toMatchObject([
      { action: 'card.stop', after: { authority: 'operator', ordered_by: 'alice' } },
    ]);
    expect(await cached()).toMatchObject({ stopped: true });
    running = true;
    await turn();
    expect(scripted.calls.stop).toBe(1);
    expect(logged).toEqual(['停机', '复机']);
  });

  it('waits in mode observe, and is made in mode enforce', async () => {
    await within();
    await order();
    stopRules = { ...UNLIMITED, mode: 'observe' };
    expect([await carryOut(), scripted.calls.card_status, logged]).toEqual([0, 0, []]);
    stopRules = UNLIMITED;
    await carryOut();
    expect([scripted.calls.stop, running]).toEqual([1, false]);
  });

  it('is done when another system stopped the card', async () => {
    await within();
    await order();
    running = false;
    await carryOut();
    expect([scripted.calls.stop, await isStopped()]).toEqual([0, true]);
    expect(await stopRow()).toMatchObject({ state: 'done' });
  });

  it('releases a held stop, which is judged again', async () => {
    stopRules = { ...UNLIMITED, maxPerHour: 0 };
    await turn();
    expect([await stopRow(), await carryOut()]).toMatchObject([{ state: 'held' }, 0]);
    expect(await records.stops.release([cardId], BY)).toEqual([cardId]);
    await carryOut();
    expect([scripted.calls.stop, running]).toEqual([1, false]);
    expect(logged).toEqual(['stop held', '停机']);
  });

  it('does not stop a card whose released stop is not wanted any more', async () => {
    stopRules = { ...UNLIMITED, maxPerHour: 0 };
    await turn();
    await records.stops.release([cardId], BY);
    await within();
    await carryOut();
    expect([scripted.calls.stop, await stopRow()]).toEqual([0, undefined]);
  });

  it('gives way to a run that resumes the card', async () => {
    await poll();
    const { id } = await filledRun(records, { cardIds: [cardId] });
    await carryOut();
    await carryOut();
    expect([scripted.calls.stop, scripted.calls.start]).toEqual([0, 0]);
    expect(await records.resumes.find(id)).toMatchObject({ alreadyRunning: 1 });
    await pausePasses();
    await turn();
    expect([scripted.calls.stop, await stopRow()]).toMatchObject([0, { state: 'resumed' }]);
  });
});
