// kill -9 of the leader between the steps in which it hands the cards of a run of resumes out: another instance goes on, and every card of the
// run is called once, as the gateway counts.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import type { ResumeRun } from '../../src/store/ports/records/resume-records.ts';
import { openPostgresRecordStore } from '../../src/store/postgres/record-store.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { waitFor } from '../support/processes.ts';
import { type Script, type ScriptedGateway, startScriptedGateway } from '../support/scripted-gateway.ts';

/** Stops that a run looks at; one in a hundred is of a card that it takes. Three steps of 10,000. */
const STOPS = 30_000;
const CARDS = STOPS / 100;
const A_STEP = CARDS / 3;
/** Its stop is looked at in the second step. */
const IN_SECOND_STEP = A_STEP * 1.5;

let gateway: ScriptedGateway;
let fleet: Fleet;
let records: RecordStore;
let database: pg.Client;
/** Takes one of the cards in a transaction that does not end. */
let other: pg.Client;
const stopped = new Set(Array.from({ length: CARDS }, (_, i) => demoIccid(i + 1)));

const script: Script = ({ interfaceName, iccid }) => {
  if (interfaceName === 'card_status')
    return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
  if (interfaceName === 'start') stopped.delete(iccid);
  return { body: HEALTHY[interfaceName] };
};

beforeAll(async () => {
  gateway = await startScriptedGateway(script);
  fleet = await Fleet.start({
    gatewayUrl: gateway.url,
    env: { CARDPOLL_LEASE_MS: '3000', CARDPOLL_GATEWAY_TIMEOUT_MS: '1000' },
  });
  await fleet.startDaemon();
  await fleet.setIntervals(86_400);
  await fleet.importCards(CARDS);
  database = new pg.Client({ connectionString: fleet.databaseUrl });
  other = new pg.Client({ connectionString: fleet.databaseUrl });
  await Promise.all([database.connect(), other.connect()]);
  await database.query('UPDATE cards SET stopped = true');
  await database.query(
    `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, requested_at, completed_at)
     SELECT CASE WHEN is_card THEN n / 100 ELSE 1000000 + n END, date_trunc('month', now()), coalesce(c.iccid, n::text), 2, 1,
       CASE WHEN is_card THEN 'done' ELSE 'dismissed' END, now() - n * interval '1 millisecond',
       CASE WHEN is_card THEN now() - n * interval '1 millisecond' END
     FROM generate_series(1, $1::integer) n CROSS JOIN LATERAL (SELECT n % 100 = 0 AS is_card) one LEFT JOIN cards c ON is_card AND c.card_id = n / 100`,
    [STOPS],
  );
  records = await openPostgresRecordStore({ url: fleet.databaseUrl, applicationName: 'test' });
});
afterAll(async () => {
  await records?.close();
  await database?.end();
  await other?.end();
  fleet?.close();
  await gateway?.close();
});

it('goes on with another leader', async () => {
  const [leader] = fleet.daemons;
  await fleet.startDaemon();
  // The second step waits for a run that takes one of its cards, and never has it.
  await other.query('BEGIN');
  await other.query(
    `WITH run AS (
       INSERT INTO resume_runs (reason, created_by, created_role) VALUES ('other', 'bob', 'operator') RETURNING id
     ) INSERT INTO card_resumes (run_id, card_id) SELECT id, $1 FROM run`,
    [IN_SECOND_STEP],
  );
  // By the leader, so that whatever makes the second step dies with it.
  void fetch(`${leader?.url}/api/admin/stops/resume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ since: new Date(Date.now() - 3_600_000), reason: 'wrong readings' }),
  }).catch(() => {});
  const underWay = await waitFor(
    async () => {
      const [run] = await records.resumes.latest(1);
      return run !== undefined && (await isSecondStepWaiting()) ? run : null;
    },
    { everyMs: 100, what: 'the second step to wait' },
  );
  expect(underWay).toMatchObject({ total: CARDS, waiting: CARDS - underWay.resumed, finishedAtMs: null });
  await leader?.process.stop('SIGKILL');
  await other.query('ROLLBACK');

  const run = await waitFor(
    async () => {
      const now = (await records.resumes.find(underWay.id)) as ResumeRun;
      return now.finishedAtMs === null ? null : now;
    },
    { everyMs: 100, what: 'the run to finish' },
  );
  const total = CARDS;
  expect(run).toMatchObject({
    total,
    resumed: total,
    failed: 0,
    cancelled: 0,
  });
  expect(stopped.size).toBe(0);
  const calls = [...gateway.callsOf].filter(([call]) => call.startsWith('start '));
  expect(calls.filter(([, count]) => count !== 1)).toEqual([]);
  expect(calls).toHaveLength(CARDS);
});

async function isSecondStepWaiting(): Promise<boolean> {
  const waiting = await records.resumes.open();
  const { rows } = await database.query(
    `SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%SET counted = true%'`,
  );
  return waiting.length === 1 && rows.length > 0;
}
