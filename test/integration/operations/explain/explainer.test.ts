// Why a card is or is not polled, at the operations: what is looked up about it, and that it is looked up for that card and
// that task type. What is made of it is test/unit/operations/explain/task-explanation.test.ts.
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../../../src/domain/audit.ts';
import type { BreakerReport } from '../../../../src/domain/limits/breaker.ts';
import type { TaskType } from '../../../../src/domain/task-type.ts';
import type { Operations } from '../../../../src/operations/operations.ts';
import type { TaskExplanation } from '../../../../src/resources/explanation.ts';
import { INIT_NOT_STARTED } from '../../../../src/store/ports/live/coordination.ts';
import { idsBetween } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { pauseByOperator } from '../../../support/limits.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { instanceOf, PolledFleet } from '../../../support/polled-fleet.ts';
import { statsDelta } from '../../../support/stats-delta.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: null };
const ICCID = '89860000000000000042';
/** Of the configs that every fleet begins with: the first polls the card, the second would if it were verified. */
const REALNAME = { configId: 1, taskType: 'realname' } as const;
const CARDDATA = { configId: 3, taskType: 'carddata' } as const;
const PACKAGE = { configId: 4, taskType: 'package' } as const;
const COMPLETED = { ...INIT_NOT_STARTED, status: 'completed' } as const;

let database: OperatedStores;
let stores: OperatedStores;
let clock: FakeClock;
let fleet: PolledFleet;
let operations: Operations;

beforeAll(async () => {
  database = await openOperatedStores();
  await database.sql(`CREATE TABLE card_usage_of_all PARTITION OF card_usage DEFAULT;
    INSERT INTO cards (card_id, iccid) SELECT id, '898600000000000000' || id FROM generate_series(41, 80) id`);
});
afterAll(() => database.close());
beforeEach(async () => {
  await database.sql('DELETE FROM manual_trigger_cards; DELETE FROM manual_triggers');
  clock = new FakeClock();
  stores = await openOperatedStores({ databaseOf: database, clock });
  fleet = new PolledFleet(stores.live, clock);
  operations = stores.operations();
  await fleet.alive(instanceOf('a'));
});
afterEach(() => stores.close());

async function explain(): Promise<Record<TaskType, TaskExplanation>> {
  const { tasks } = await operations.explainer.explain('42');
  return Object.fromEntries(tasks.map((task) => [task.taskType, task])) as Record<TaskType, TaskExplanation>;
}

/** The card and forty others, in all their rings, half a minute ago. */
async function loadAll(): Promise<void> {
  await stores.live.coordination.saveInitProgress(COMPLETED);
  for (const ring of [REALNAME, CARDDATA, PACKAGE]) await fleet.load(ring, idsBetween(41, 80), 3_600_000);
}

const statesOf = (told: Record<TaskType, TaskExplanation>) => Object.values(told).map(({ state }) => state);

describe('a card', () => {
  it('is found by its id and by its iccid', async () => {
    const told = await operations.explainer.explain(ICCID);
    expect(told).toMatchObject({
      generatedAt: new Date(clock.now()),
      card: { cardId: 42, iccid: ICCID },
      usage: [],
      stops: [],
      openTriggers: [],
      logsCommand: `journalctl --unit 'cardpoll*' --grep ${ICCID}`,
      logsOn: ['host-1'],
      logsDirectory: null,
    });
    expect(told.tasks.map(({ taskType }) => taskType)).toEqual(['realname', 'carddata', 'package']);
    expect(await operations.explainer.explain('42')).toEqual(told);
  });

  it('has its log lines where the instances that poll are, in the directory of this one', async () => {
    await fleet.alive(instanceOf('b', { hostname: 'host-3', roles: ['api'] }));
    await fleet.alive(instanceOf('c', { hostname: 'host-2' }));
    const { explainer } = stores.operations({}, undefined, '/var/log/my cards');
    expect(await explainer.explain('42')).toMatchObject({
      logsCommand: `cardpoll logs --roots '/var/log/my cards' --iccid ${ICCID}`,
      logsOn: ['host-1', 'host-2'],
      logsDirectory: '/var/log/my cards',
    });
  });

  it('has its log lines in the directories of all instances that poll, by host', async () => {
    await fleet.alive(instanceOf('a', { logDir: '/log/a' }));
    await fleet.alive(instanceOf('b', { logDir: '/log/b' }));
    await fleet.alive(instanceOf('c', { hostname: 'host-2', logDir: null }));
    const { explainer } = stores.operations({}, undefined, '/log/a');
    expect(await explainer.explain('42')).toMatchObject({
      logsCommand: `cardpoll logs --roots /log/a:/log/b --iccid ${ICCID}`,
      logsCommands: [
        { command: `cardpoll logs --roots /log/a:/log/b --iccid ${ICCID}`, hosts: ['host-1'] },
        { command: `journalctl --unit 'cardpoll*' --grep ${ICCID}`, hosts: ['host-2'] },
      ],
    });
  });

  it('has its allowance from the import of an operator, or it is not known from whom', async () => {
    expect((await operations.explainer.explain('43')).allowance).toMatchObject({
      importedBy: [],
      auditId: null,
    });
    const now = await openOperatedStores({ databaseOf: database, clock: new FakeClock(Date.now()) });
    const { cards, explainer } = now.operations();
    const file = Readable.from([`card_id,iccid,allowance_mb\n43,89860000000000000043,1\n`]);
    const actor = { ...ANNA, requestId: 'r-1' };
    await cards.import(actor, file, { format: 'csv' });
    const { allowance } = await explainer.explain('43');
    expect(allowance?.importedBy).toEqual(['anna']);
    expect(Math.abs(Date.now() - (allowance?.at.getTime() ?? 0))).toBeLessThan(60_000);
    const entry = await now.records.audit.find(allowance?.auditId ?? 0);
    expect(entry).toMatchObject({ action: 'cards.import.begin', name: 'anna' });
    await now.close();
  });

  it('a card that is not there is not found', async () => {
    await expect(operations.explainer.explain('99')).rejects.toMatchObject({
      kind: 'not_found',
      code: 'card_not_found',
    });
  });

  it('comes with its last twelve months', async () => {
    await database.sql(`INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at)
      SELECT 42, '2025-01-01'::date + n * interval '1 month', n, n, now() FROM generate_series(0, 13) n;
      INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state, completed_at)
      SELECT card_id, month, '', used_mb, 1, 'done', month + interval '5 days' FROM card_usage`);
    const { usage, stops } = await operations.explainer.explain('42');
    expect(usage.map(({ month, usedMb }) => `${month} ${usedMb}`)).toEqual(
      ['2026-02 13', '2026-01 12', '2025-12 11', '2025-11 10', '2025-10 9', '2025-09 8', '2025-08 7'].concat([
        '2025-07 6',
        '2025-06 5',
        '2025-05 4',
        '2025-04 3',
        '2025-03 2',
      ]),
    );
    expect(stops).toHaveLength(12);
    expect(stops.slice(0, 2)).toMatchObject([
      {
        action: 'stopped, runs again',
        detail: '13 of 1 MB used in 2026-02; not stopped a second time in the month',
      },
      { action: 'stopped', detail: '12 of 1 MB used in 2026-01' },
    ]);
    await database.sql('UPDATE cards SET stopped = true WHERE card_id = 42');
    expect((await operations.explainer.explain('42')).stops[0]).toMatchObject({ action: 'stopped' });
    await database.sql('UPDATE cards SET stopped = false; DELETE FROM card_stops; DELETE FROM card_usage');
  });

  it('a card whose reading waits to be confirmed says so, for the task type that reads usage', async () => {
    await database.sql(`DELETE FROM card_usage WHERE card_id = 42;
      INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, suspected_mb, read_at)
        VALUES (42, '2026-11-01', 900, 900, 3, '2026-11-24T10:05:00Z')`);
    await stores.live.stats.record(
      'carddata',
      'a',
      1,
      statsDelta({
        ...{ succeeded: 20, failed: 0, durationMs: 400 },
        implausible: 5,
      }),
    );
    const { carddata, realname, package: stop } = await explain();
    expect(carddata.text).toContain(
      'its reading of 2026-11-24T10:05:00.000Z is not believed yet: 3 MB after 900 MB',
    );
    expect(carddata.text).toContain('5 of 20 readings of the fleet were not believed');
    expect(realname.text + stop.text).not.toContain('believed');
    await database.sql('DELETE FROM card_usage WHERE card_id = 42');
  });

  it('a card that is over its package and runs with no stop open says so, and a spared one', async () => {
    await database.sql(`UPDATE cards SET allowance_mb = 100 WHERE card_id = 42;
      INSERT INTO card_usage (card_id, month, used_mb, last_reading_mb, read_at)
        VALUES (42, '2026-11-01', 900, 900, '2026-11-24T10:05:00Z')`);
    clock.set('2026-11-24T10:06:00Z');
    const { package: runs, carddata } = await explain();
    expect(runs.text).toContain('it is over its package and runs, and no stop is open (over_running)');
    expect(carddata.text).not.toContain('over its package');
    await database.sql(`INSERT INTO card_stops (card_id, month, iccid, used_mb, allowance_mb, state)
      SELECT 42, '2026-11-01', iccid, 900, 100, 'dismissed' FROM cards WHERE card_id = 42`);
    expect((await explain()).package.text).toContain('its stop was dismissed, so it is spared');
    await database.sql(`DELETE FROM card_stops; DELETE FROM card_usage WHERE card_id = 42;
      UPDATE cards SET allowance_mb = NULL WHERE card_id = 42`);
  });

  it('was polled last by each task type when its records say so', async () => {
    await database.sql(`INSERT INTO card_polls (card_id, realname_at) VALUES (42, '2026-10-31T12:00:00Z')`);
    const told = await explain();
    expect(told.realname.lastSucceededAt).toEqual(new Date('2026-10-31T12:00:00Z'));
    expect(told.package.lastSucceededAt).toBeNull();
    await database.sql('DELETE FROM card_polls');
  });
});

describe('the configs', () => {
  it('the configs that take the card are named, and why others of the type do not', async () => {
    const { realname, carddata } = await explain();
    expect(realname.config).toMatchObject({ id: 1, intervalSeconds: 60 });
    expect(realname.otherConfigs).toMatchObject([
      { id: 2, reason: 'is for verified cards, the card is not verified' },
    ]);
    expect(carddata).toMatchObject({ config: { id: 3 }, otherConfigs: [] });
  });

  it('may be none', async () => {
    await fleet.load(PACKAGE, [42], 60_000);
    await database.sql('UPDATE polling_configs SET carrier_id = 9 WHERE id = 4');
    expect((await explain()).package).toMatchObject({ state: 'unmatched', config: null, ring: null });
    await database.sql('UPDATE polling_configs SET carrier_id = NULL WHERE id = 4');
  });
});

describe('the rings', () => {
  it('rings say when a card is due, each for its task type', async () => {
    await loadAll();
    await stores.live.rings.remove(CARDDATA, [42]);
    await stores.live.rings.drop(PACKAGE);
    await stores.live.rings.configure(PACKAGE, { intervalMs: 60_000, enabled: true });
    const told = await explain();
    expect(statesOf(told)).toEqual(['scheduled', 'not_loaded', 'not_loaded']);
    expect(told.realname).toMatchObject({ ring: { member: true }, nextDueAt: expect.any(Date) });
    expect(told.carddata).toMatchObject({ ring: { member: false }, command: 'cardpoll init rebuild' });
    expect(told.package.ring, 'was configured and never built').toBeNull();
  });

  it('the rings of other configs do not count', async () => {
    await fleet.load({ ...REALNAME, configId: 2 }, [42], 60_000);
    const { realname } = await explain();
    expect(realname).toMatchObject({ state: 'not_loaded', command: 'cardpoll init', ring: null });
  });

  it.each([
    [{ ...INIT_NOT_STARTED }, 'is not loaded: the initialisation has not begun'],
    [
      { ...INIT_NOT_STARTED, status: 'running', total: 8, loaded: 2 } as const,
      'is not loaded yet: initialisation is at 25 %',
    ],
  ])('do not have it yet: %#', async (progress, text) => {
    await stores.live.coordination.saveInitProgress(progress);
    expect((await explain()).package).toMatchObject({ state: 'not_loaded', text });
  });

  it('rings do not have the card for long while no initialisation begins', async () => {
    clock.advance(60_001);
    expect((await explain()).package.text).toBe('is not loaded: initialisation makes no progress');
  });
});

describe('the queue', () => {
  it('shows its position in the queue, and how long that takes', async () => {
    await loadAll();
    await fleet.queue('carddata', [42]);
    await stores.live.stats.record(
      'carddata',
      'w',
      1,
      statsDelta({ succeeded: 10, failed: 0, durationMs: 10 }),
    );
    const { realname, carddata } = await explain();
    expect(realname.state).toBe('scheduled');
    expect(carddata).toMatchObject({ state: 'due', cardsBefore: 0, expectedInSeconds: 0 });
    const [item] = await fleet.claim('carddata', 1);
    expect((await explain()).carddata).toMatchObject({ state: 'running', text: 'is being polled now' });
    if (item !== undefined) await stores.live.work.release('carddata', [item]);
    expect((await explain()).carddata.text).toBe('was polled; its result is being written');
  });

  it('has cards before it, and polls as fast as its own task type does at present', async () => {
    await loadAll();
    await fleet.queue('carddata', [50]);
    await fleet.queue('carddata', [51]);
    await fleet.queue('carddata', [42]);
    expect((await explain()).carddata).toMatchObject({ cardsBefore: 2, expectedInSeconds: null });
    await stores.live.stats.record(
      'carddata',
      'w',
      1,
      statsDelta({ succeeded: 1, failed: 0, durationMs: 10 }),
    );
    clock.advance(10_000);
    expect((await explain()).carddata).toMatchObject({ cardsBefore: 2, expectedInSeconds: 20 });
  });

  it('remembers why its last poll failed, and when it is tried again', async () => {
    await loadAll();
    const note = { cardId: 42, reason: 'timeout', message: 'no answer', durationMs: 5_000 };
    await fleet.fail('package', [42], { baseMs: 20_000, capMs: 60_000 });
    await stores.live.failures.note('package', [note]);
    const { package: failing, realname } = await explain();
    expect(failing).toMatchObject({
      state: 'backoff',
      text: 'failed once (timeout): next try in 10 s',
      lastFailure: {
        at: new Date(clock.now()),
        reason: 'timeout',
        message: 'no answer',
        durationMs: 5_000,
        attempts: 1,
        nextTryAt: new Date(clock.now() + 10_000),
      },
    });
    expect(realname.lastFailure).toBeNull();
  });
});

describe('what holds it back', () => {
  const breaker = (name: string, over: Partial<BreakerReport> = {}): BreakerReport => ({
    interface: name,
    state: 'open',
    sinceMs: clock.now() - 60_000,
    reason: 'timeouts',
    nextProbeAtMs: null,
    ...over,
  });

  beforeEach(loadAll);

  it('may be a pause of its task type', async () => {
    await pauseByOperator(stores.live.work, 'carddata', { ms: 90_000, reason: 'x', by: 'anna' });
    const told = await explain();
    expect(statesOf(told)).toEqual(['scheduled', 'paused', 'scheduled']);
    expect(told.carddata.text).toBe('is paused by anna for 1m 30s more: x');
  });

  it('may be a breaker that every instance has which polls', async () => {
    await fleet.alive(instanceOf('a', { breakers: [breaker('flow')] }));
    expect(statesOf(await explain())).toEqual(['scheduled', 'held', 'scheduled']);
    await fleet.alive(instanceOf('b', { roles: ['scheduler'] }));
    expect(statesOf(await explain()), 'an instance that does not poll').toEqual([
      'scheduled',
      'held',
      'scheduled',
    ]);
    await fleet.alive(instanceOf('c'));
    expect(statesOf(await explain()), 'one that may poll it').toEqual([
      'scheduled',
      'scheduled',
      'scheduled',
    ]);
    await fleet.alive(instanceOf('c', { breakers: [breaker('flow')] }));
    expect((await explain()).carddata.text).toBe('interface flow is held back for 60 s: timeouts');
  });

  it('may be the breaker of the whole gateway, and is none that lets probes through', async () => {
    await fleet.alive(instanceOf('a', { breakers: [breaker('gateway')] }));
    expect(statesOf(await explain())).toEqual(['held', 'held', 'held']);
    await fleet.alive(instanceOf('a', { breakers: [breaker('gateway', { state: 'half_open' })] }));
    expect(statesOf(await explain())).toEqual(['scheduled', 'scheduled', 'scheduled']);
  });

  it('a card can have no worker that polls it', async () => {
    await fleet.alive(instanceOf('a', { roles: ['scheduler', 'api'] }));
    expect((await explain()).package).toMatchObject({
      state: 'held',
      command: 'cardpoll daemon --roles worker',
    });
  });
});

describe('a manual trigger', () => {
  it('a trigger that still asks for the card is shown with the entries before it, for its task type alone', async () => {
    await loadAll();
    const { triggerId } = await operations.triggers.batch(ANNA, 'carddata', [50, 51, 42]);
    await operations.triggers.single(ANNA, 'carddata', 51);
    const { openTriggers } = await operations.explainer.explain('42');
    expect(openTriggers).toMatchObject([
      { triggerId, kind: 'batch', taskType: 'carddata', createdAt: expect.any(Date) },
    ]);
    const told = await explain();
    expect(told.carddata.text).toMatch(/; a manual trigger polls it too, 2 entries before it$/);
    expect(told.realname.text).not.toMatch(/manual/);
    await fleet.claim('carddata', 3);
    expect((await explain()).carddata).toMatchObject({ state: 'running' });
  });

  it('may have been put into the list by hand, without a name', async () => {
    await loadAll();
    await stores.live.manual.push('package', ['50', '42']);
    expect((await explain()).package.text).toMatch(/1 entry before it$/);
  });

  it('is one of the twenty newest', async () => {
    const made: string[] = [];
    for (let i = 0; i < 21; i += 1)
      made.unshift((await operations.triggers.single(ANNA, 'package', 42)).triggerId);
    const { openTriggers } = await operations.explainer.explain('42');
    expect(openTriggers.map(({ triggerId }) => triggerId)).toEqual(made.slice(0, 20));
  });
});
