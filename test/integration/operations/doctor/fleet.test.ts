// What the doctor says of the fleet in two stores that answer: instances, counts, rings, alert rules, cleanup, health.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { noWorkerWords } from '../../../../src/health/fleet-faults.ts';
import { fleetFindings } from '../../../../src/operations/doctor/fleet.ts';
import { INIT_NOT_STARTED } from '../../../../src/store/ports/live/coordination.ts';
import { ruleFields } from '../../../support/alert-rules.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { MESSAGE_MEANS } from '../../../support/message-deps.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { instanceOf, PolledFleet } from '../../../support/polled-fleet.ts';
import { DEFAULT_STOPS, OF_FLEET } from '../../../support/stop-rules.ts';
import { waitFor } from '../../../support/wait-for.ts';

const NOW = '2026-11-15T12:00:00Z';
const DAY_MS = 86_400_000;
const COMPLETED = { ...INIT_NOT_STARTED, status: 'completed' } as const;

let database: OperatedStores;
let stores: OperatedStores;
let clock: FakeClock;

beforeAll(async () => {
  database = await openOperatedStores();
  await database.sql(
    `INSERT INTO cards (card_id, iccid) SELECT id, '898600000000000000' || id FROM generate_series(41, 43) id`,
  );
});
afterAll(() => database.close());
beforeEach(async () => {
  clock = new FakeClock(NOW);
  await database.sql(`DELETE FROM card_stops; DELETE FROM stop_control; INSERT INTO stop_control DEFAULT VALUES;
    DELETE FROM alert_rules; DELETE FROM cleanup_run_items; DELETE FROM cleanup_runs;
    UPDATE cardpoll_migrations SET applied_at = '${NOW}'`);
  stores = await openOperatedStores({ databaseOf: database, clock });
});
afterEach(() => stores.close());

type Facts = Parameters<typeof fleetFindings>[0];

async function look(over: Partial<Facts> = {}) {
  const { live, records } = stores;
  return fleetFindings({
    live,
    records,
    clock,
    random: () => 0,
    settle: async () => {},
    timeZone: 'UTC',
    cleanupSchedule: '0 3 * * *',
    receivers: MESSAGE_MEANS.receivers,
    stops: DEFAULT_STOPS,
    rateLimits: [],
    offers: () => true,
    cardsPerCall: () => 1,
    health: stores.health,
    ...over,
  });
}

const found = async (check: string, over?: Partial<Facts>) =>
  (await look(over)).filter((one) => one.check === check);
const briefly = (findings: Awaited<ReturnType<typeof look>>) =>
  findings.map(({ check, status, detail }) => `${check}: ${status}: ${detail}`);

const rule = async (name: string, isEnabled: boolean): Promise<number> =>
  (await stores.records.alerts.createRule(ruleFields({ name, isEnabled }))).id;

async function allInRings(): Promise<void> {
  const fleet = new PolledFleet(stores.live, clock);
  await fleet.alive(instanceOf('a'));
  await stores.live.coordination.saveInitProgress(COMPLETED);
  for (const [i, taskType] of TASK_TYPES.entries())
    await fleet.load({ configId: [1, 3, 4][i] ?? 0, taskType }, [41, 42, 43], 3_600_000);
}

describe('a fleet', () => {
  it('a fleet that is well', async () => {
    await allInRings();
    await rule('backlog', true);
    expect(briefly(await look())).toEqual([
      'instances: ok: 1 of 1.2.3',
      'running counts: ok: match the running calls: realname 0, carddata 0, package 0',
      'scheduled cards: ok: 3 cards checked, all in the schedule',
      'stop mode: ok: enforce, by the setting stops.mode: 0 of 1 stops in the last hour, 0 of 1 in the last day, of 3 cards; 0 held',
      'stops possible: ok: usage and status are polled, and the gateway offers stop',
      'alert rules: warning: 1 of 1 rules enabled, but none has a webhook: no one is notified',
      'cleanup: ok: has not run yet; its schedule is 0 3 * * *',
      'fleet: ok: 1 instance alive, health normal',
    ]);
  });

  it('is not examined where the daemon reports its health', async () => {
    await allInRings();
    expect((await look({ health: null })).map(({ check }) => check)).toEqual([
      'instances',
      'running counts',
      'scheduled cards',
      'stop mode',
      'stops possible',
      'alert rules',
      'cleanup',
    ]);
  });

  it('a fleet that was never started is no reason to worry', async () => {
    expect(briefly(await look()).filter((line) => line.includes('skipped'))).toEqual([
      'instances: skipped: no instance is alive',
      'scheduled cards: skipped: the initialisation is not completed',
      'fleet: skipped: no instance has polled yet',
    ]);
  });

  it.each([
    ['whose instances are gone', { ...INIT_NOT_STARTED, updatedAtMs: 1 }],
    ['whose instances are gone after they loaded all', COMPLETED],
  ])('%s has no worker', async (_, progress) => {
    await stores.live.coordination.saveInitProgress(progress);
    expect(await look()).toContainEqual({
      check: 'no_worker',
      status: 'failed',
      detail: noWorkerWords(null).text,
      hint: null,
      command: 'cardpoll daemon --roles worker',
    });
  });

  it('a fleet that has just been started is asked', async () => {
    await new PolledFleet(stores.live, clock).alive(instanceOf('a'), instanceOf('b'));
    expect(await found('fleet')).toMatchObject([
      { status: 'ok', detail: '2 instances alive, health normal' },
    ]);
  });

  it('with cards that no ring has', async () => {
    await allInRings();
    await stores.live.rings.remove({ configId: 3, taskType: 'carddata' }, [42]);
    let waited = 0;
    const settle = async () => {
      waited += 1;
    };
    expect(await found('scheduled cards', { settle })).toMatchObject([
      {
        status: 'failed',
        detail: '1 card of 3 checked (9 places) are missing from the schedule',
      },
    ]);
    expect(waited).toBe(1);
  });

  it('is reported without the part that fails', async () => {
    await allInRings();
    const away = () => Promise.reject(new Error('away'));
    const { live, records } = stores;
    const failing = <T extends object>(part: T, name: keyof T): T =>
      Object.assign(Object.create(part), { [name]: away });
    const told = await look({
      live: { ...live, work: failing(live.work, 'runningCount'), rings: failing(live.rings, 'list') },
      records: {
        ...records,
        alerts: failing(records.alerts, 'rules'),
        stopControl: failing(records.stopControl, 'read'),
      },
      health: { judge: away },
    });
    expect(briefly(told)).toEqual([
      'instances: ok: 1 of 1.2.3',
      'running counts: unknown: away',
      'scheduled cards: unknown: away',
      'stop mode: unknown: away',
      'stops possible: ok: usage and status are polled, and the gateway offers stop',
      'alert rules: unknown: away',
      'fleet: unknown: away',
    ]);
  });
});

describe('alert rules', () => {
  it('may be none', async () => {
    expect(await found('alert rules')).toMatchObject([
      {
        status: 'warning',
        detail: 'there are none: no one is notified when polling fails',
        hint: 'to be notified as well, add --webhook-url URL to the command',
        command: 'cardpoll alerts recommended --apply',
      },
    ]);
  });

  it('may all be disabled, or some', async () => {
    const first = await rule('a', false);
    await rule('b', false);
    expect(await found('alert rules')).toMatchObject([
      {
        status: 'warning',
        detail: 'all 2 are disabled: no one is notified when polling fails',
        command: `cardpoll alerts rules update ${first} --enable`,
      },
    ]);
    await rule('c', true);
    expect(await found('alert rules')).toMatchObject([
      {
        status: 'warning',
        detail: '1 of 3 rules enabled, but none has a webhook: no one is notified',
        command: 'cardpoll alerts rules',
      },
    ]);
  });

  it('notify someone as soon as one has a webhook', async () => {
    await rule('a', true);
    const id = await rule('b', true);
    await database.sql(
      `UPDATE alert_rules SET notify_channels = '{webhook}', webhook_url = 'http://x/' WHERE id = ${id}`,
    );
    expect(await found('alert rules')).toMatchObject([
      { status: 'ok', detail: '2 of 2 rules enabled, 1 with a webhook' },
    ]);
  });
});

describe('the cleanup', () => {
  const command = 'cardpoll cleanup run --yes --wait';

  async function run(status: string, startedAt: string, finishedAt: string | null): Promise<void> {
    const finished = finishedAt === null ? 'NULL' : `'${finishedAt}'`;
    await database.sql(`INSERT INTO cleanup_runs (run_id, status, started_at, finished_at)
      VALUES ('run-${startedAt}', '${status}', '${startedAt}', ${finished})`);
  }

  it('without a schedule never runs', async () => {
    expect(await found('cleanup', { cleanupSchedule: 'off' })).toMatchObject([
      {
        status: 'warning',
        detail: 'it has never run and has no schedule: expired data is never removed',
        hint: expect.stringContaining('cleanup.schedule'),
        command,
      },
    ]);
  });

  it('the cleanup that never ran is overdue two days after its first time', async () => {
    await database.sql(`UPDATE cardpoll_migrations SET applied_at = '2020-01-01T00:00:00Z'
      WHERE id = (SELECT max(id) FROM cardpoll_migrations)`);
    clock.set(Date.parse('2020-01-01T03:00:00Z') + 2 * DAY_MS);
    expect(await found('cleanup')).toMatchObject([{ status: 'ok' }]);
    clock.advance(1);
    expect(await found('cleanup')).toMatchObject([
      {
        status: 'warning',
        detail:
          'it has never run, although its schedule is 0 3 * * *: no leader was alive at these times, or the schedule is new',
        command,
      },
    ]);
    expect(await found('cleanup', { cleanupSchedule: '0 3 1 * *', timeZone: 'Asia/Shanghai' })).toMatchObject(
      [{ status: 'ok', detail: 'has not run yet; its schedule is 0 3 1 * *' }],
    );
  });

  it('is judged by its last run', async () => {
    await run('completed', '2026-11-13T03:00:00Z', '2026-11-13T03:05:00Z');
    expect(await found('cleanup')).toMatchObject([
      { status: 'ok', detail: 'last run at 2026-11-13T03:05:00.000Z' },
    ]);
    await run('running', '2026-11-14T03:00:00Z', null);
    expect(await found('cleanup')).toMatchObject([
      { status: 'ok', detail: 'running since 2026-11-14T03:00:00.000Z' },
    ]);
  });

  it('is overdue two days after the first time that it missed', async () => {
    await run('completed', '2026-09-16T03:00:00Z', '2026-09-16T03:05:00Z');
    expect(await found('cleanup')).toMatchObject([
      {
        status: 'warning',
        detail:
          'the last run was 61 d ago, at 2026-09-16T03:05:00.000Z, although its schedule is 0 3 * * *: no leader was alive at these times, or the schedule is new',
        command,
      },
    ]);
    const lastOf = async (cleanupSchedule: string, now: string, timeZone = 'UTC') => {
      clock.set(Date.parse(now));
      return (await found('cleanup', { cleanupSchedule, timeZone })).map(({ status }) => status);
    };
    expect(await lastOf('0 3 * * *', '2026-09-19T03:00:00Z')).toEqual(['ok']);
    expect(await lastOf('0 3 * * *', '2026-09-19T03:00:01Z')).toEqual(['warning']);
    expect(await lastOf('0 3 1 * *', '2026-10-03T03:00:00Z')).toEqual(['ok']);
    expect(await lastOf('0 3 1 * *', '2026-10-03T03:00:00Z', 'Asia/Shanghai')).toEqual(['warning']);
    expect(await lastOf('off', '2026-11-15T12:00:00Z')).toEqual(['ok']);
  });

  it('the cleanup that failed says why, for each that could not be cleaned', async () => {
    await run('failed', '2026-11-14T03:00:00Z', '2026-11-14T03:05:00Z');
    await database.sql(`INSERT INTO cleanup_run_items (run_id, position, target, cutoff, first_kept_month, total, error)
      SELECT run_id, n, target, now(), '2026-01-01', 0, error FROM cleanup_runs,
        (VALUES (1, 'manual_triggers', 'locked'), (2, 'audit', NULL), (3, 'alert_history', 'full')) AS item (n, target, error)`);
    expect(await found('cleanup')).toMatchObject([
      {
        status: 'warning',
        detail: 'the last run failed: manual_triggers: locked; alert_history: full',
        command,
      },
    ]);
  });
});

describe('stops', () => {
  const NO_LIMIT = { unit: 'none' } as const;

  it('stops that wait, and a jump of the readings, are findings', async () => {
    await allInRings();
    await database.sql(`INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, held_by)
      SELECT id, '2026-11-01', '', 2, 1, 'held', 'usage_jump' FROM generate_series(41, 42) id`);
    await stores.records.stopControl.beginJump({
      factor: 30,
      baselineMbPerHour: 1,
      recentMbPerHour: 30,
      ...OF_FLEET,
    });
    // The health of the fleet does not wait for a slow database: the figures come with one of the next readings.
    const findings = await waitFor(async () => {
      const all = await look();
      return all.some(({ check }) => check === 'usage_jump') ? all : null;
    });
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'usage_jump',
        status: 'failed',
        command: expect.stringMatching(/^cardpoll /),
      }),
    );
    expect(findings).toContainEqual(expect.objectContaining({ check: 'stops_held', status: 'warning' }));
    expect(findings.find(({ check }) => check === 'stop mode')?.detail).toMatch(/; 2 held$/);
  });

  it('stops that are only observed by the setting are a warning', async () => {
    await database.sql(`INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state)
      VALUES (41, '2026-11-01', '', 2, 1, 'observed')`);
    expect(await found('stop mode', { stops: { ...DEFAULT_STOPS, mode: 'observe' } })).toEqual([
      {
        check: 'stop mode',
        status: 'warning',
        detail: 'observe, by the setting stops.mode: 1 card would have been stopped, none was',
        hint: 'look at cardpoll stops list --state observed, then stop cards again',
        command: "cardpoll stops mode enforce --reason 'checked what it would stop'",
      },
    ]);
  });

  it('stops that an operator lets only be observed are a warning with who, when and why, and with the other setting', async () => {
    await stores.records.stopControl.setMode('observe', 'anna', 'wrong readings');
    const since = (await stores.records.stopControl.read()).setMode?.sinceMs ?? 0;
    expect(await found('stop mode')).toMatchObject([
      {
        status: 'warning',
        detail:
          `observe, set by anna at ${new Date(since).toISOString()} (wrong readings); ` +
          'the setting stops.mode says enforce, without effect: 0 cards would have been stopped, none was',
      },
    ]);
  });

  it('stops that an operator enforces are well, whatever the setting says', async () => {
    await stores.records.stopControl.setMode('enforce', 'anna', 'checked');
    const stops = { mode: 'observe', maxPerHour: NO_LIMIT, maxPerDay: NO_LIMIT } as const;
    expect(await found('stop mode', { stops })).toMatchObject([
      {
        status: 'ok',
        detail: expect.stringMatching(
          /^enforce, set by anna at \S+ \(checked\); the setting stops.mode says observe, without effect: 0 stops in the last hour, 0 in the last day, of 3 cards; 0 held$/,
        ),
      },
    ]);
  });
});
