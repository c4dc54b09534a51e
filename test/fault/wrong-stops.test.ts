// A gateway that shows wrong readings or acknowledges stops without carrying them out, and an allowance that is raised at
// the last moment: real daemon, real stores. No card is stopped that is not over its package, and no stop is believed
// that the gateway does not show.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { FailuresBody, OverviewBody } from '../../src/resources/stats.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import {
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedGateway,
  startScriptedGateway,
} from '../support/scripted-gateway.ts';

const CARDS = 20;
const INTERVAL_SECONDS = 1;
const OVER = [1, 2, 3, 4, 5];
const ICCIDS = OVER.map((cardId) => demoIccid(cardId));

let gateway: ScriptedGateway;
let fleet: Fleet;
let database: pg.Client;
/** What the gateway knows: cards that are stopped, and whether its stop interface does anything. */
const stopped = new Set<string>();
let stopWorks = false;
let effective: string[] = [];
let used: (call: ScriptedCall) => number = () => 0;
let statusDelayMs = () => 0;

function script(call: ScriptedCall): ScriptedAnswer {
  const { interfaceName, iccid } = call;
  if (interfaceName === 'flow') return { body: { used: used(call) } };
  if (interfaceName === 'card_status') {
    const delayMs = statusDelayMs();
    return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' }, delayMs };
  }
  if (interfaceName === 'stop' && stopWorks) {
    stopped.add(iccid);
    effective.push(iccid);
  }
  return { body: HEALTHY[interfaceName] };
}

beforeAll(async () => {
  gateway = await startScriptedGateway(script);
  fleet = await Fleet.start({ gatewayUrl: gateway.url });
  database = new pg.Client({ connectionString: fleet.databaseUrl });
  await database.connect();
  // The script's readings grow by hundreds of MB a second, from a first one that may be any of them.
  await fleet.startDaemon({ CARDPOLL_USAGE_MAX_MBIT_PER_SECOND: '100000' });
  await fleet.setIntervals(INTERVAL_SECONDS);
});
afterAll(async () => {
  await database?.end();
  fleet?.close();
  await gateway?.close();
});

beforeEach(async () => {
  await database.query('DELETE FROM cards');
  await database.query('DELETE FROM card_usage');
  await database.query('DELETE FROM card_stops');
  stopped.clear();
  effective = [];
  [stopWorks, used, statusDelayMs] = [false, () => 0, () => 0];
});

const callsOf = (interfaceName: string, iccid: string) =>
  gateway.callsOf.get(`${interfaceName} ${iccid}`) ?? 0;

/** Waits until each card was asked `times` more. */
async function asked(interfaceName: string, iccids: readonly string[], times: number): Promise<void> {
  const before = new Map(iccids.map((iccid) => [iccid, callsOf(interfaceName, iccid)]));
  await waitFor(
    () => iccids.every((iccid) => callsOf(interfaceName, iccid) >= (before.get(iccid) ?? 0) + times),
    { what: `${times} further calls of ${interfaceName}` },
  );
}

async function waitForLines(msg: string, count: number): Promise<void> {
  await waitFor(async () => (await fleet.logged(msg)).length >= count, {
    everyMs: 200,
    what: `${count} lines ${msg}`,
  });
}

describe('a gateway that acknowledges stops', () => {
  it('and does nothing, then begins to work', async () => {
    await fleet.cli(
      ...['alerts', 'rules', 'create', '--name', 'Stops', '--rule-type', 'stop_unconfirmed'],
      ...['--task', 'package', '--cooldown-seconds', '0'],
    );
    used = () => 100;
    await fleet.importCards(CARDS, (cardId) => (OVER.includes(cardId) ? 10 : ''));
    await waitForLines('stop_unconfirmed', OVER.length);
    await database.query(
      `UPDATE card_stops SET claimed_until = clock_timestamp() + interval '1 hour', pending_since = pending_since - interval '1 hour'`,
    );
    await asked('card_status', ICCIDS, 3);
    expect(ICCIDS.map((iccid) => callsOf('stop', iccid))).toEqual(ICCIDS.map(() => 1));
    expect(await fleet.logged('停机')).toEqual([]);
    expect(await fleet.logged('复机')).toEqual([]);
    expect(await fleet.get('/api/admin/cards/1')).toMatchObject({ stopped: false });
    const fired = await waitFor(
      async () => {
        const { items } = await fleet.get<{ items: Array<{ value: number }> }>(
          '/api/admin/polling-alert-history',
        );
        return items[0];
      },
      { what: 'the alert' },
    );
    expect(fired).toMatchObject({ rule_type: 'stop_unconfirmed', resolved_at: null });
    // It may fire before the last of them was called.
    expect(fired?.value).toBeGreaterThan(0);
    const overview = await waitFor(
      async () => {
        const body = await fleet.get<OverviewBody>('/api/admin/polling-stats');
        return body.stops.unconfirmed === OVER.length ? body : null;
      },
      { what: 'statistics to tell of them' },
    );
    expect(overview.health_reasons).toContainEqual(expect.objectContaining({ code: 'stop_unconfirmed' }));
    const { items: failures } = await fleet.get<{ items: FailuresBody[] }>(
      '/api/admin/polling-stats/failures',
    );
    const ofPackage = failures.find(({ task_type }) => task_type === 'package');
    expect(ofPackage?.cards.map(({ card_id, reason }) => ({ card_id, reason }))).toEqual(
      expect.arrayContaining(OVER.map((card_id) => ({ card_id, reason: 'stop_unconfirmed' }))),
    );

    stopWorks = true;
    await database.query('UPDATE card_stops SET claimed_until = clock_timestamp()');
    await waitForLines('停机', OVER.length);
    await asked('card_status', ICCIDS, 3);
    expect(effective.toSorted()).toEqual(ICCIDS.toSorted());
    expect(await fleet.logged('停机')).toHaveLength(OVER.length);
    expect(await fleet.get('/api/admin/cards/1')).toMatchObject({ stopped: true });
    await waitFor(
      async () => {
        const { items } = await fleet.get<{ items: Array<{ resolution: string | null }> }>(
          '/api/admin/polling-alert-history',
        );
        return items[0]?.resolution === 'recovered';
      },
      { what: 'the alert to be resolved' },
    );

    // Somebody resumes one of them: it is told once, and not stopped again this month.
    const [resumed] = ICCIDS as [string];
    stopped.delete(resumed);
    await waitForLines('复机', 1);
    await asked('card_status', [resumed], 3);
    expect(await fleet.logged('复机')).toMatchObject([{ iccid: resumed }]);
    expect(effective).toHaveLength(OVER.length);
  });
});

describe('a card within its package', () => {
  const [iccid] = ICCIDS as [string];

  it.each<[string, readonly number[], number]>([
    ['dips', [900, 899.9, 900, 899.9, 900, 899.9, 900], 900],
    ['is gone now and then', [900, 0, 900, 3, 901, 0, 0, 902], 902],
  ])('is not stopped when its reading %s', async (_, readings, total) => {
    const from = callsOf('flow', iccid);
    used = () => readings[Math.min(callsOf('flow', iccid) - from, readings.length) - 1] as number;
    stopWorks = true;
    await fleet.importCards(1, () => 1_000);
    await asked('flow', [iccid], readings.length + 1);
    await asked('card_status', [iccid], 2);
    expect(await fleet.get('/api/admin/cards/1')).toMatchObject({ used_mb_month: total, stopped: false });
    expect(effective).toEqual([]);
  });

  it('is not stopped against an allowance that was raised while it was polled', async () => {
    used = () => 1_100;
    stopWorks = true;
    stopped.add(iccid);
    await fleet.importCards(1, () => 1_000);
    await waitFor(
      async () => {
        const card = await fleet.get<{ stopped: boolean; used_mb_month: number }>('/api/admin/cards/1');
        return card.stopped && card.used_mb_month === 1_100;
      },
      { what: 'the card to be over its package' },
    );
    await database.query('DELETE FROM card_stops');
    // It runs again: a worker has read the card and asks for its status; the operator is faster than the answer.
    let seenRunning = false;
    statusDelayMs = () => {
      if (seenRunning) return 0;
      seenRunning = true;
      stopped.delete(iccid);
      return 3_000;
    };
    await waitFor(() => seenRunning, { what: 'the next poll' });
    await database.query('UPDATE cards SET allowance_mb = 5000');
    await asked('card_status', [iccid], 3);
    expect(effective).toEqual([]);
  });
});
