// Cleanup as an operator sees it: begun through API and command line, carried out by the daemon, killed and resumed.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLEANUP_FINISHED } from '../../src/domain/log-phrases.ts';
import type { CleanupProgressBody } from '../../src/resources/cleanup.ts';
import { Fleet } from '../support/fleet.ts';
import { runCli, waitFor } from '../support/processes.ts';

const BATCH = 10_000;
const CONFIGS = '/api/admin/data-cleanup-configs';
const CLEANUP = '/api/admin/data-cleanup';

let fleet: Fleet;
let database: pg.Client;

beforeAll(async () => {
  // Batches come slowly enough to look between them.
  fleet = await Fleet.start({ env: { CARDPOLL_CLEANUP_PAUSE_MS: '200', CARDPOLL_CLEANUP_SCHEDULE: 'off' } });
  await fleet.startDaemon();
  database = new pg.Client({ connectionString: fleet.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  fleet?.close();
});

const url = () => fleet.daemons.at(-1)?.url ?? '';
const progress = () => fleet.get<CleanupProgressBody>(`${CLEANUP}/progress`);
const cli = (...args: string[]) => runCli(['cleanup', ...args], { env: { CARDPOLL_URL: url() } });
const put = (id: number | string, body: unknown) =>
  fetch(`${url()}${CONFIGS}/${id}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const trigger = () => fetch(`${url()}${CLEANUP}/trigger`, { method: 'POST' });

async function addExpired(count: number): Promise<void> {
  await database.query(
    `INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, requested_at)
     SELECT coalesce((SELECT max(card_id) FROM card_stops), 0) + i, '2024-01-01', 'x', 2, 1, 'done', now() - interval '400 days'
     FROM generate_series(1, ${count}) i`,
  );
}

async function untilDeleted(count: number): Promise<void> {
  await waitFor(async () => (await progress()).deleted >= count, {
    what: `${count} rows to go`,
  });
}

function untilEnded(): Promise<CleanupProgressBody> {
  return waitFor(
    async () => {
      const now = await progress();
      return now.status === 'running' ? null : now;
    },
    { what: 'the cleanup to end' },
  );
}

describe('the API', () => {
  it('is idle before the first run', async () => {
    expect(await progress()).toEqual({
      run_id: null,
      status: 'idle',
      items: [],
      deleted: 0,
      batches: 0,
      started_at: null,
      finished_at: null,
    });
  });

  it('lists and changes retention, and says which field is wrong', async () => {
    const list = await fleet.get<{ items: object[]; total: number }>(CONFIGS);
    expect(list.total).toBe(10);
    expect(list.items[0]).toEqual({
      id: 1,
      target: 'usage_records',
      retention_days: 180,
      enabled: true,
      last_run_at: null,
    });
    expect(await (await put(1, { retention_days: 90 })).json()).toMatchObject({ id: 1, retention_days: 90 });
    expect(await (await put(1, { retention_days: 180, enabled: true })).json()).toMatchObject({
      retention_days: 180,
    });
    for (const body of [{ retention_days: 0 }, { retention_days: 3_651 }, { retention_days: '7' }, {}]) {
      const refused = await put(1, body);
      expect(refused.status).toBe(422);
      expect(await refused.json()).toMatchObject({ errors: [{ field: 'retention_days' }] });
    }
    expect((await put(1, { enabled: 'yes' })).status).toBe(422);
    expect((await put(99, { retention_days: 7 })).status).toBe(404);
    expect((await put('x', { retention_days: 7 })).status).toBe(404);
  });

  it('previews, runs one at a time, shows the progress, and the daemon logs the end', async () => {
    await addExpired(3 * BATCH);
    const preview = await fleet.get<{ items: Array<{ target: string; rows: number }>; total_rows: number }>(
      `${CLEANUP}/preview`,
    );
    expect(preview.total_rows).toBe(3 * BATCH);
    expect(preview.items.find((item) => item.target === 'card_stops')).toMatchObject({
      retention_days: 365,
      rows: 3 * BATCH,
      estimated: false,
    });

    const accepted = await trigger();
    expect(accepted.status).toBe(202);
    const { run_id: runId } = (await accepted.json()) as { run_id: string };
    const second = await trigger();
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ code: 'cleanup_running' });
    await untilDeleted(BATCH);
    expect(await progress()).toMatchObject({ run_id: runId, status: 'running', finished_at: null });
    expect(await untilEnded()).toMatchObject({
      run_id: runId,
      status: 'completed',
      deleted: 3 * BATCH,
      batches: 3,
    });

    const [line] = await waitFor(async () =>
      (await fleet.logged(CLEANUP_FINISHED)).length > 0 ? fleet.logged(CLEANUP_FINISHED) : null,
    );
    expect(line).toMatchObject({
      run_id: runId,
      status: 'completed',
      deleted: 3 * BATCH,
      by_target: { card_stops: 3 * BATCH, usage_records: 0 },
    });
  });
});

describe('kill -9 in mid-run', () => {
  it('the next daemon finishes the run, and no row is counted twice', async () => {
    await addExpired(10 * BATCH);
    const { run_id: runId } = (await (await trigger()).json()) as { run_id: string };
    await untilDeleted(2 * BATCH);
    await fleet.daemons.at(-1)?.process.stop('SIGKILL');
    const { rows } = await database.query<{ n: number }>('SELECT count(*)::integer AS n FROM card_stops');
    expect(rows[0]?.n).toBeGreaterThan(0);
    await fleet.startDaemon();
    expect(await untilEnded()).toMatchObject({
      run_id: runId,
      status: 'completed',
      deleted: 10 * BATCH,
      batches: 10,
    });
    expect((await database.query('SELECT FROM card_stops')).rowCount).toBe(0);
  });
});

describe('cardpoll cleanup', () => {
  it('shows and changes retention', async () => {
    expect((await cli('configs')).stdout.split('\n')[6]).toMatch(/^ +6 +card_stops +365 +enabled +\d{4}-/);
    expect((await cli('set-retention', '6', '300', '--yes')).stdout).toMatch(/card_stops +300/);
    expect((await cli('set-retention', '6', '365')).code).toBe(0);
    expect(await cli('set-retention', '6', '0')).toMatchObject({ code: 64 });
    expect(await cli('set-retention', '99', '7')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cleanup configs'),
    });
    expect((await cli('disable', '6')).stdout).toContain('disabled');
    expect((await cli('enable', '6')).stdout).toContain('enabled');
  });

  it('shows the plan, refuses to run unasked, and is silent when all went well', async () => {
    await addExpired(5);
    expect((await cli('preview')).stdout).toMatch(/^ +6 +card_stops +365 +\S+ +5$/m);
    expect(await cli('run')).toMatchObject({ code: 64, stdout: '' });
    const plan = await cli('run', '--dry-run');
    expect(plan).toMatchObject({ code: 0 });
    expect(plan.stdout).toContain('card_stops: 5 rows older than 365 days');
    expect(await cli('run', '--yes', '--wait')).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
    await addExpired(7);
    const told = await cli('run', '--yes', '--wait', '-o', 'json');
    expect(told.stdout.trimEnd()).not.toContain('\n');
    expect(JSON.parse(told.stdout)).toMatchObject({ status: 'completed', deleted: 7 });
    expect((await cli('run', '--yes', '--wait', '-v')).stdout).toMatch(/^card_stops +0 +0 +-$/m);
    expect((await cli('progress')).stdout).toMatch(/^card_stops +0 +0 +-$/m);
  });

  it('ends with 75 while another run is at it', async () => {
    await addExpired(3 * BATCH);
    expect((await cli('run', '--yes')).stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    expect(await cli('run', '--yes', '--wait')).toMatchObject({
      code: 75,
      stderr: expect.stringContaining('already running'),
    });
    await untilEnded();
  });

  it('ends with 1 when the run failed', async () => {
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not today'; END $$`,
    );
    await database.query(
      'CREATE TRIGGER refuse BEFORE DELETE ON card_stops FOR EACH ROW EXECUTE FUNCTION refuse()',
    );
    await addExpired(1);
    expect(await cli('run', '--yes', '--wait')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^cardpoll: the cleanup failed: card_stops: .*not today\n$/),
    });
    await database.query('DROP TRIGGER refuse ON card_stops');
  });

  it('ends with 69 when no daemon answers', async () => {
    const nobody = { env: { CARDPOLL_URL: 'http://127.0.0.1:9' } };
    expect(await runCli(['cleanup', 'run', '--yes', '--wait'], nobody)).toMatchObject({ code: 69 });
  });
});

describe('the schedule', () => {
  it('begins one run at its time with two instances', async () => {
    await fleet.daemons.at(-1)?.process.stop();
    const { rows } = await database.query<{ n: number }>('SELECT count(*)::integer AS n FROM cleanup_runs');
    // Due at every second; a run of nothing takes less than that.
    await Promise.all([1, 2].map(() => fleet.startDaemon({ CARDPOLL_CLEANUP_SCHEDULE: '* * * * * *' })));
    const finished = async () =>
      (await database.query('SELECT FROM cleanup_runs WHERE finished_at IS NOT NULL')).rowCount ?? 0;
    await waitFor(async () => (await finished()) >= Number(rows[0]?.n) + 3, {
      what: 'three scheduled runs',
    });
    const doubled =
      'SELECT scheduled_for FROM cleanup_runs GROUP BY 1 HAVING count(*) > 1 AND scheduled_for IS NOT NULL';
    expect((await database.query(doubled)).rowCount).toBe(0);
    const untraced = `SELECT run_id FROM cleanup_runs WHERE scheduled_for IS NOT NULL
      AND (SELECT count(*) FROM audit WHERE object = 'cleanup ' || run_id AND actor = 'daemon') <> 1`;
    expect((await database.query(untraced)).rowCount).toBe(0);
  });
});
