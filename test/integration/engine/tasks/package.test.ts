// The package task against a real gateway, a real database and a real cache: one stop a card and month, whatever happens,
// and none for a card that is not over its package; one call for each order to stop or resume a card.
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../../src/domain/audit.ts';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { StopRules } from '../../../../src/domain/stops/stop.ts';
import { PackageTask, type PackageTaskDeps } from '../../../../src/engine/tasks/package.ts';
import { CardReader } from '../../../../src/engine/work/card-reader.ts';
import { Deadline } from '../../../../src/engine/work/task.ts';
import { GatewayClient } from '../../../../src/gateway/call/client.ts';
import { demoIccid } from '../../../../src/gateway/simulate/simulated-fleet.ts';
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
import { waitFor } from '../../../support/wait-for.ts';

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
let iccid = '';
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
  gateway = new GatewayClient(gatewayConfig({ url: scripted.url }), {
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
  iccid = demoIccid(cardId);
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

type Records = PackageTaskDeps['records'];

function taskWith(stops: Records['stops'], resumes: Records['resumes']): PackageTask {
  return new PackageTask({
    gateway,
    offers: () => true,
    records: { stops, resumes },
    audit,
    reader,
    calendar,
    stopRules: () => stopRules,
    again: async () => {},
    leaseMs: LEASE_MS,
    clock,
    log,
  });
}

/** Polls the card as it is cached, or as given, and writes what was found, as the result writer does. */
async function poll(
  as: Partial<Card> = {},
  stops: Records['stops'] = records.stops,
  resumes: Records['resumes'] = records.resumes,
) {
  const task = taskWith(stops, resumes);
  const card = { ...(await cached()), ...as };
  const result = await task.poll(card, new Deadline(clock, clock.monotonic(), LEASE_MS, Date.now()));
  await records.results.write([result.outcome]);
  if (result.outcome.stopped !== undefined) await reader.forget([cardId]);
  return result;
}

const isStopped = async () => (await records.cards.find(String(cardId)))?.stopped;
const stopRow = async () =>
  (await client.query('SELECT state, unconfirmed FROM card_stops WHERE card_id = $1', [cardId]))[0];
/** The pause after a call without effect, or the lease of a claim, is over. */
const pausePasses = async (table: 'card_stops' | 'card_resumes' = 'card_stops') => {
  await client.query(`UPDATE ${table} SET claimed_until = clock_timestamp() WHERE card_id = $1`, [cardId]);
};
/** An interface answers as given, and does nothing. */
const answering = (name: 'stop' | 'start', answer: ReturnType<Script>): Script => {
  return (call) => (call.interfaceName === name ? answer : script(call));
};
const REFUSED = { body: '{"code":5001,"msg":"no"}' };
const BY = { by: 'alice', reason: 'the readings were wrong' };

it('stops a card over its package once, and logs when it is resumed', async () => {
  expect((await poll()).outcome.stopped).toBe(true);
  expect((await poll()).outcome.stopped).toBeUndefined();
  expect(scripted.calls.stop).toBe(1);
  expect(entries).toMatchObject([{ name: 'daemon', action: 'card.stop', object: `card ${cardId}` }]);

  running = true;
  const resumed = await poll();
  expect(resumed.outcome.stopped).toBe(false);
  expect(resumed.fields).toMatchObject({ over_package: true, stopped: false });
  expect((await poll()).outcome.stopped).toBeUndefined();
  expect(scripted.calls.stop).toBe(1);
  expect(logged).toEqual(['停机', '复机']);
});

it('does not call after a pause that outlasted its lease, and leaves the stop to the next poll', async () => {
  const answersLate: Records['stops'] = {
    look: (...args) => records.stops.look(...args),
    claim: async (...args) => {
      const claim = await records.stops.claim(...args);
      pausedMs = LEASE_MS;
      return claim;
    },
    complete: (...args) => records.stops.complete(...args),
    acknowledge: (...args) => records.stops.acknowledge(...args),
    abandon: (...args) => records.stops.abandon(...args),
  };
  await expect(poll({}, answersLate)).rejects.toMatchObject({ failure: 'held' });
  expect(scripted.calls.stop).toBe(0);
  expect((await poll()).outcome.stopped).toBe(true);
  expect(scripted.calls.stop).toBe(1);
});

it('does not stop a card whose allowance was raised, although the cache still has the old one', async () => {
  await client.query('UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1', [cardId]);
  expect((await cached()).allowanceMb).toBe(10);
  const { fields, outcome } = await poll();
  expect(fields).toMatchObject({ over_package: false, stopped: false });
  expect(outcome.stopped).toBeUndefined();
  expect(scripted.calls.stop).toBe(0);
  expect(await stopRow()).toBeUndefined();
  expect((await cached()).allowanceMb).toBe(5_000);
});

it('stops no card while a reading is suspected', async () => {
  const usage = { ...(await cached()).usage, suspectedMb: 0 } as Card['usage'];
  expect((await poll({ usage })).fields).toMatchObject({ over_package: true, stopped: false });
  expect(await stopRow()).toBeUndefined();
  // Nor does a cache that has not heard of the suspicion.
  await client.query('UPDATE card_usage SET suspected_mb = 0 WHERE card_id = $1', [cardId]);
  expect((await poll()).outcome.stopped).toBeUndefined();
  expect(scripted.calls.stop).toBe(0);
});

it('takes no acknowledgement for a stop: it is done when the gateway shows it', async () => {
  stopWorks = false;
  await expect(poll()).rejects.toMatchObject({ code: 'stop_unconfirmed' });
  await expect(poll()).rejects.toMatchObject({ code: 'stop_unconfirmed' });
  expect(scripted.calls.stop).toBe(1);
  expect(await stopRow()).toEqual({ state: 'requested', unconfirmed: 1 });
  expect(await isStopped()).toBe(false);
  expect(await records.stops.unconfirmed()).toBe(1);

  await pausePasses();
  await expect(poll()).rejects.toMatchObject({ code: 'stop_unconfirmed' });
  expect(scripted.calls.stop).toBe(2);
  expect(logged).toEqual(['stop_unconfirmed', 'stop_unconfirmed']);

  await pausePasses();
  stopWorks = true;
  expect((await poll()).outcome.stopped).toBe(true);
  expect((await poll()).outcome.stopped).toBeUndefined();
  expect(scripted.calls.stop).toBe(3);
  expect(logged.slice(2)).toEqual(['停机']);
  expect(await records.stops.unconfirmed()).toBe(0);
});

it('calls nothing for a SIM that moved to another card, and reads the card again', async () => {
  await client.query(
    "UPDATE cards SET iccid = '89860000000000' || lpad($1::text, 6, '0') WHERE card_id = $1",
    [cardId],
  );
  await expect(poll()).rejects.toMatchObject({ code: 'other_iccid' });
  expect(scripted.calls.stop ?? 0).toBe(0);
  expect(await stopRow()).toBeUndefined();
  const card = await cached();
  expect(card.iccid).not.toBe(iccid);
  await client.query(
    `UPDATE card_usage u SET read_at = clock_timestamp(), iccid = c.iccid
      FROM cards c WHERE c.card_id = u.card_id AND u.card_id = $1`,
    [cardId],
  );
  expect((await poll()).outcome.stopped).toBe(true);
  expect(scripted.calls.stop).toBe(1);
});

it('completes a stop that shows later without a second call', async () => {
  stopWorks = false;
  await expect(poll()).rejects.toMatchObject({ code: 'stop_unconfirmed' });
  running = false;
  expect((await poll()).outcome.stopped).toBe(true);
  expect(await stopRow()).toEqual({ state: 'done', unconfirmed: 1 });
  expect(logged).toEqual(['stop_unconfirmed', '停机']);

  running = true;
  expect((await poll()).outcome.stopped).toBe(false);
  expect(scripted.calls.stop).toBe(1);
});

it('completes an acknowledged stop later when the status cannot be asked at once', async () => {
  let called = false;
  scripted.follow((call) => {
    called ||= call.interfaceName === 'stop';
    return called && call.interfaceName === 'card_status' ? broken : script(call);
  });
  await expect(poll()).rejects.toMatchObject({ failure: 'http' });
  expect(await stopRow()).toEqual({ state: 'requested', unconfirmed: 0 });
  scripted.follow(script);
  expect((await poll()).outcome.stopped).toBe(true);
  expect(scripted.calls.stop).toBe(1);
  expect(logged).toEqual(['停机']);
});

it('keeps its claim when the result of the call is unknown, and gives it up when the call was refused', async () => {
  scripted.follow(answering('stop', broken));
  await expect(poll()).rejects.toMatchObject({ failure: 'http' });
  scripted.follow(script);
  await expect(poll(), 'the lost call may have been carried out').rejects.toMatchObject({
    code: 'stop_in_progress',
  });
  expect(scripted.calls.stop).toBe(1);

  await pausePasses();
  scripted.follow(answering('stop', REFUSED));
  await expect(poll()).rejects.toMatchObject({ failure: 'business' });
  scripted.follow(script);
  expect((await poll()).outcome.stopped, 'nothing happened: at once again').toBe(true);
  expect(scripted.calls.stop).toBe(3);
});

it.each([
  ['the allowance was raised', 'UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1'],
  ['another month began', "UPDATE card_stops SET month = month - interval '1 month' WHERE card_id = $1"],
])('records a call whose answer was lost although %s since', async (_, change) => {
  scripted.follow((call) => {
    void script(call);
    return call.interfaceName === 'stop' ? broken : script(call);
  });
  await expect(poll()).rejects.toMatchObject({ failure: 'http' });
  scripted.follow(script);
  await client.query(change, [cardId]);
  await client.query('UPDATE card_usage SET used_mb = 1 WHERE card_id = $1', [cardId]);
  await reader.forget([cardId]);
  expect((await poll()).fields).toMatchObject({ over_package: false, stopped: true });
  expect(await stopRow()).toMatchObject({ state: 'done' });
  expect(entries).toMatchObject([{ action: 'card.stop', object: `card ${cardId}` }]);
  expect([scripted.calls.stop, await isStopped()]).toEqual([1, true]);
  await poll();
  expect(logged).toEqual(['停机']);
});

it('remembers the stop of a card that had been stopped before', async () => {
  await client.query('UPDATE cards SET stopped = true WHERE card_id = $1', [cardId]);
  await reader.forget([cardId]);
  stopWorks = false;
  await expect(poll()).rejects.toMatchObject({ code: 'stop_unconfirmed' });
  expect(await isStopped()).toBe(false);
  running = false;
  await poll();
  expect(await stopRow()).toMatchObject({ state: 'done' });
  running = true;
  await poll();
  expect(scripted.calls.stop).toBe(1);
  expect(logged).toEqual(['stop_unconfirmed', '停机', '复机']);
});

it('leaves connections to other statements while claims wait for each other', async () => {
  const task = taskWith(records.stops, records.resumes);
  const card = await cached();
  const deadline = new Deadline(clock, clock.monotonic(), LEASE_MS, Date.now());
  const polls = await client.transaction(async (tx) => {
    // Other tests use the same server.
    const sql = `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE NOT granted AND datname = current_database() AND pid <> pg_backend_pid()`;
    const waiting = async () => {
      // A transaction keeps what it saw of the sessions: one that began later would be missing.
      await tx.query('SELECT pg_stat_clear_snapshot()');
      return (await tx.query(sql)).length;
    };
    await tx.query('SELECT FROM stop_control FOR UPDATE');
    // More than there are connections.
    const begun = Array.from({ length: 8 }, () => task.poll(card, deadline));
    const ended = Promise.allSettled(begun);
    await waitFor(async () => (await waiting()) > 0, { what: 'a claim to wait' });
    await waitFor(() => scripted.calls.card_status === 8, { what: 'all polls to have asked for the status' });
    await records.ping();
    expect(await waiting()).toBe(1);
    return { ended };
  });
  await polls.ended;
  expect(scripted.calls.stop).toBeLessThanOrEqual(1);
});

describe('a run', () => {
  let runId: string;

  /** The card was stopped, and waits in a run, as the leader's feeder makes it known. */
  beforeEach(async () => {
    await poll();
    await ordersRun();
    [entries.length, logged.length] = [0, 0];
  });

  async function ordersRun(): Promise<void> {
    runId = (await filledRun(records, { cardIds: [cardId] })).id;
    await reader.forget([cardId]);
  }
  const run = () => records.resumes.find(runId);
  const starts = () => scripted.calls.start;

  it('resumes a card once, and the card is not stopped again', async () => {
    const { outcome, fields } = await poll();
    expect(outcome.stopped).toBe(false);
    expect(fields).toMatchObject({ over_package: true, stopped: false });
    expect(await cached()).toMatchObject({ ordered: false, stopped: false });
    expect((await poll()).outcome.stopped).toBeUndefined();
    expect([scripted.calls.stop, starts(), running]).toEqual([1, 1, true]);
    expect(await run()).toMatchObject({ resumed: 1, waiting: 0 });
    expect(await stopRow()).toMatchObject({ state: 'resumed' });
    expect(entries).toMatchObject([{ name: 'alice', action: 'card.resume', after: { outcome: 'resumed' } }]);
    expect(logged).toEqual(['复机']);
  });

  it('goes on in mode observe', async () => {
    stopRules = { ...UNLIMITED, mode: 'observe' };
    await poll();
    expect([starts(), running]).toEqual([1, true]);
  });

  it('calls nothing for a card that was resumed by hand', async () => {
    running = true;
    expect((await poll()).outcome.stopped).toBe(false);
    expect(starts()).toBe(0);
    expect(await run()).toMatchObject({ alreadyRunning: 1, waiting: 0 });
    expect(await stopRow()).toMatchObject({ state: 'resumed' });
    expect(logged).toEqual(['复机']);
  });

  it('resumes once when the answer of the call is lost', async () => {
    scripted.follow((call) => {
      const answer = script(call);
      return call.interfaceName === 'start' ? broken : answer;
    });
    await expect(poll()).rejects.toMatchObject({ failure: 'http' });
    expect((await poll()).outcome.stopped).toBe(false);
    await poll();
    expect(starts()).toBe(1);
    expect(await run(), 'it was the call').toMatchObject({ resumed: 1, alreadyRunning: 0 });
    expect(logged).toEqual(['复机']);
  });

  it('repeats a call whose answer was lost, and that had no effect, when its lease is over', async () => {
    scripted.follow(answering('start', broken));
    await expect(poll()).rejects.toMatchObject({ failure: 'http' });
    scripted.follow(script);
    await expect(poll()).rejects.toMatchObject({ code: 'resume_in_progress' });
    expect(starts()).toBe(1);
    await pausePasses('card_resumes');
    expect((await poll()).outcome.stopped).toBe(false);
    expect(starts()).toBe(2);
  });

  it('gives up a card that is refused three times; it stays stopped', async () => {
    scripted.follow(answering('start', REFUSED));
    for (let i = 0; i < 3; i += 1) await expect(poll()).rejects.toMatchObject({ failure: 'business' });
    expect(await run()).toMatchObject({ failed: 1, waiting: 0, lastError: expect.any(String) });
    expect(logged).toEqual(['resume failed, no more attempts']);
    scripted.follow(script);
    expect((await poll()).outcome.stopped).toBeUndefined();
    expect([starts(), await isStopped()]).toEqual([3, true]);
    expect(await stopRow()).toMatchObject({ state: 'done' });
  });

  it('does not count it against the card when the gateway refuses all', async () => {
    scripted.follow(answering('start', { status: 429 }));
    for (let i = 0; i < 4; i += 1) await expect(poll()).rejects.toMatchObject({ failure: 'backpressure' });
    expect(await run()).toMatchObject({ waiting: 1 });
    scripted.follow(script);
    expect((await poll()).outcome.stopped).toBe(false);
  });

  it('takes no acknowledgement for a resume: it is done when the gateway shows it', async () => {
    startWorks = false;
    await expect(poll()).rejects.toMatchObject({ code: 'resume_unconfirmed' });
    await expect(poll(), 'a pause').rejects.toMatchObject({ code: 'resume_unconfirmed' });
    expect([starts(), await isStopped()]).toEqual([1, true]);
    await pausePasses('card_resumes');
    await expect(poll()).rejects.toMatchObject({ code: 'resume_unconfirmed' });
    expect(starts()).toBe(2);
    expect(logged).toEqual([]);

    running = true;
    expect((await poll()).outcome.stopped, 'it shows during the pause').toBe(false);
    expect(starts()).toBe(2);
    expect(await run()).toMatchObject({ resumed: 1 });
    expect(logged).toEqual(['复机']);
  });

  it('has no call of a worker that was frozen past its lease, while another resumed the card', async () => {
    const frozen: Records['resumes'] = {
      claim: async (...args) => {
        const claim = await records.resumes.claim(...args);
        await pausePasses('card_resumes');
        expect((await poll()).outcome.stopped).toBe(false);
        running = false;
        pausedMs = LEASE_MS;
        return claim;
      },
      complete: (...args) => records.resumes.complete(...args),
      acknowledge: (...args) => records.resumes.acknowledge(...args),
      abandon: (...args) => records.resumes.abandon(...args),
    };
    await expect(poll({}, records.stops, frozen)).rejects.toMatchObject({ failure: 'held' });
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
    expect((await poll()).fields).toMatchObject({ stopped: false });
    expect(await run(), 'its effect may come yet').toMatchObject({ waiting: 1, finishedAtMs: null });
    await calledAgo(61);
    await poll();
    expect(await run()).toMatchObject({ alreadyRunning: 1, finishedAtMs: expect.any(Number) });

    running = false;
    expect((await poll()).fields, 'it does come').toMatchObject({ stopped: true });
    expect(await run()).toMatchObject({ alreadyRunning: 0, waiting: 1, finishedAtMs: null });
    expect((await poll()).outcome.stopped).toBe(false);
    expect([scripted.calls.stop, starts(), running]).toEqual([1, 1, true]);
    expect(await run()).toMatchObject({ resumed: 1, waiting: 0, finishedAtMs: expect.any(Number) });
    expect(entries.map(({ action }) => action)).toEqual(['card.resume', 'card.stop', 'card.resume']);
  });

  it('calls nothing for a SIM that the card has no more', async () => {
    const other = `8986${'9'.repeat(16)}`;
    await client.query('UPDATE cards SET iccid = $2 WHERE card_id = $1', [cardId, other]);
    await expect(poll({ iccid: demoIccid(cardId) })).rejects.toMatchObject({ code: 'other_iccid' });
    expect(starts()).toBe(0);
    expect((await cached()).iccid, 'it is read again').toBe(other);
    expect(await run()).toMatchObject({ waiting: 1 });
  });

  it('resumes a card whose stop was not recorded yet, and that stop does not follow', async () => {
    await client.query('DELETE FROM card_stops WHERE card_id = $1', [cardId]);
    await client.query('DELETE FROM resume_runs', []);
    await client.query('UPDATE cards SET stopped = false WHERE card_id = $1', [cardId]);
    await reader.forget([cardId]);
    running = true;
    scripted.follow((call) => {
      const answer = script(call);
      return call.interfaceName === 'stop' ? broken : answer;
    });
    await expect(poll(), 'the stop is made, its answer lost').rejects.toMatchObject({ failure: 'http' });
    await ordersRun();
    scripted.forget();
    await poll();
    await poll();
    expect([starts(), scripted.calls.stop, running]).toEqual([1, 0, true]);
    expect(logged).toEqual(['停机', '复机']);
  });
});

describe('an order to stop', () => {
  const order = async () => {
    expect(await records.stops.order(cardId, calendar.monthOf(Date.now()), BY)).toBe('ordered');
    await reader.forget([cardId]);
  };
  /** It has room in its package. */
  const within = () => client.query('UPDATE cards SET allowance_mb = 5000 WHERE card_id = $1', [cardId]);

  it('stops a card within its package, once', async () => {
    await within();
    await order();
    const { outcome, fields } = await poll();
    expect(outcome.stopped).toBe(true);
    expect(fields).toMatchObject({ over_package: false, stopped: true });
    expect(entries).toMatchObject([
      { action: 'card.stop', after: { authority: 'operator', ordered_by: 'alice' } },
    ]);
    expect(await cached()).toMatchObject({ ordered: false, stopped: true });
    running = true;
    await poll();
    expect(scripted.calls.stop).toBe(1);
    expect(logged).toEqual(['停机', '复机']);
  });

  it('waits in mode observe, and is made in mode enforce', async () => {
    await within();
    await order();
    stopRules = { ...UNLIMITED, mode: 'observe' };
    expect((await poll()).fields).toMatchObject({ stop: 'observed', stopped: false });
    expect((await poll()).fields).toMatchObject({ stop: 'observed', stopped: false });
    expect([scripted.calls.stop, logged]).toEqual([0, []]);
    stopRules = UNLIMITED;
    expect((await poll()).outcome.stopped).toBe(true);
  });

  it('is done when another system stopped the card', async () => {
    await within();
    await order();
    running = false;
    expect((await poll()).outcome.stopped).toBe(true);
    expect([scripted.calls.stop, (await cached()).ordered]).toEqual([0, false]);
    expect(await stopRow()).toMatchObject({ state: 'done' });
  });

  it('releases a held stop, which is judged again', async () => {
    stopRules = { ...UNLIMITED, maxPerHour: 0 };
    expect((await poll()).fields).toMatchObject({ stop: 'held', over_package: true });
    expect(await records.stops.release([cardId], BY)).toEqual([cardId]);
    await reader.forget([cardId]);
    expect((await poll()).outcome.stopped).toBe(true);
    expect(scripted.calls.stop).toBe(1);
    expect(logged).toEqual(['stop held', '停机']);
  });

  it('does not stop a card whose released stop is not wanted any more', async () => {
    stopRules = { ...UNLIMITED, maxPerHour: 0 };
    await poll();
    await records.stops.release([cardId], BY);
    await within();
    await reader.forget([cardId]);
    expect((await poll()).outcome.stopped).toBeUndefined();
    expect([scripted.calls.stop, await stopRow(), (await cached()).ordered]).toEqual([0, undefined, false]);
  });
});
