// What the doctor looks at, in which order, and what is left out where a store does not answer. What is found of a store or of
// the fleet stands in the tests beside this one.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ok } from '../../../../src/domain/finding.ts';
import { examine, examineEmbedded, type Stores } from '../../../../src/operations/doctor/examine.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import type { LiveServer, LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { openPostgresRecordStore } from '../../../../src/store/postgres/record-store.ts';
import { emptyDatabase } from '../../../support/fresh-stores.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';
import { type OperatedStores, openOperatedStores } from '../../../support/operated-stores.ts';
import { instanceOf } from '../../../support/polled-fleet.ts';

const SERVER: LiveServer = {
  address: '10.0.0.1:6379',
  software: 'Redis 7.0.0',
  redisVersion: '7.0.0',
  writable: true,
  usedBytes: 1,
  limitBytes: 8e9,
  threadSeconds: 1,
  replicas: 0,
  replicasInStep: 0,
  persistent: true,
  savesFail: false,
};
const REDIS = ['rights', 'maxmemory-policy', 'version', 'memory', 'load', 'replication', 'clock'].map(
  (name) => `redis ${name}`,
);
const POSTGRES = [
  'postgresql version',
  'postgresql connections',
  'postgresql replication',
  'postgresql transactions',
  'migrations',
].concat(['postgresql rights', 'usage partitions', 'postgresql size', 'postgresql clock']);

let database: OperatedStores;
let live: LiveStore;
let closed: string[];
/** What was handed to the checks that come from outside. */
let elsewhere: (RecordStore | null)[];
let fleet: Stores[];

beforeAll(async () => {
  database = await openOperatedStores();
  await database.sql(`INSERT INTO cards (card_id, iccid)
    SELECT id, '8986' || lpad(id::text, 16, '0') FROM generate_series(1, 3) id`);
});
afterAll(() => database.close());
beforeEach(() => {
  closed = [];
  elsewhere = [];
  fleet = [];
  live = {
    ...openLimitedLiveStore({ clock: systemClock }),
    servers: async () => [SERVER],
    close: async () => {
      closed.push('live');
    },
  };
});

async function openRecords(url = database.databaseUrl): Promise<RecordStore> {
  const records = await openPostgresRecordStore({ url, applicationName: 'cardpoll-test' });
  const close = async () => {
    closed.push('records');
    await records.close();
  };
  return { ...records, close };
}

function look(over: Partial<Parameters<typeof examine>[0]> = {}) {
  return examine({
    openLive: async () => live,
    openRecords: () => openRecords(),
    clock: systemClock,
    redisCli: 'CLI',
    database: { connectionsPerInstance: 10, timeZone: 'UTC', psql: 'psql' },
    elsewhere: async (records) => {
      elsewhere.push(records);
      return [ok('elsewhere', '')];
    },
    fleet: async (stores) => {
      fleet.push(stores);
      return [ok('the fleet', '')];
    },
    ...over,
  });
}

type Findings = Awaited<ReturnType<typeof look>>;
const checksOf = (findings: Findings) => findings.map(({ check }) => check);
const found = (findings: Findings, check: string) => findings.find((one) => one.check === check);
const SKIPPED = { check: 'fleet', status: 'skipped', detail: 'needs both stores and all migrations' };
const AWAY = new CardpollError('unavailable', 'x', 'away');
const away = () => Promise.reject(AWAY);

describe('where both stores answer', () => {
  it('everything is looked at in a fixed order, and both are closed', async () => {
    const findings = await look();
    const stores = ['redis', ...REDIS, 'postgresql', ...POSTGRES];
    expect(checksOf(findings)).toEqual([...stores, 'elsewhere', 'redis fleet', 'the fleet']);
    expect(found(findings, 'redis')?.status).toBe('ok');
    expect(found(findings, 'postgresql')?.status).toBe('ok');
    expect(elsewhere).toEqual([expect.objectContaining({ kind: 'postgres' })]);
    expect(fleet).toEqual([{ live, records: elsewhere[0] }]);
    expect(closed.sort()).toEqual(['live', 'records']);
  });

  it('the room for the cards of the fleet is looked at', async () => {
    expect(found(await look(), 'redis memory')?.detail).toBe(
      '10.0.0.1:6379: 1 MiB of 7,630 MiB used; this fleet needs up to 1 MiB',
    );
  });

  it('connections are wanted for every instance, and for one that is to be started', async () => {
    expect(found(await look(), 'postgresql connections')?.detail).toMatch(/^10 for 1 instance /);
    for (const id of ['a', 'b', 'c']) await live.coordination.heartbeat(instanceOf(id), 600_000);
    expect(found(await look(), 'postgresql connections')?.detail).toMatch(/^30 for 3 instances /);
    live = { ...live, coordination: Object.assign(Object.create(live.coordination), { instances: away }) };
    expect(found(await look(), 'postgresql connections')?.detail).toMatch(/^10 for 1 instance /);
  });

  it('the fleet is looked at in a Redis of its own alone', async () => {
    const { id, name } = await database.records.fleet();
    await live.coordination.claimFleet({ id, name });
    expect(found(await look(), 'redis fleet')).toMatchObject({
      status: 'ok',
      detail: expect.stringContaining(name),
    });
    await live.coordination.forgetFleet();
    await live.coordination.claimFleet({ id: '01234567-x', name: 'another' });
    const findings = await look();
    expect(found(findings, 'redis fleet')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('belongs to "another" (01234567), but the database is '),
      command: 'cardpoll init adopt',
    });
    expect(findings.at(-1)).toMatchObject({ check: 'fleet', status: 'skipped' });
    expect(fleet).toHaveLength(1);
  });

  it('but not to what is asked, it is unknown what would have been found', async () => {
    live = { ...live, servers: away };
    const silent = async () => ({ ...(await openRecords()), server: away });
    const findings = await look({ openRecords: silent, fleet: away });
    const unknown = { status: 'unknown', detail: 'away' };
    expect(findings).toMatchObject([
      { check: 'redis', ...unknown },
      { check: 'postgresql', ...unknown },
      { check: 'elsewhere', status: 'ok' },
      { check: 'redis fleet', status: 'ok', detail: expect.stringContaining('belongs to no fleet yet') },
      { check: 'fleet', ...unknown },
    ]);
    expect(closed.sort()).toEqual(['live', 'records']);
  });
});

describe('where the tables are not there', () => {
  async function expectUnmigrated(records: () => Promise<RecordStore>) {
    const findings = await look({ openRecords: records });
    expect(findings.slice(-2)).toMatchObject([{ check: 'elsewhere' }, SKIPPED]);
    expect(elsewhere).toEqual([null]);
    expect(found(findings, 'postgresql')?.status).toBe('ok');
    expect(found(findings, 'redis memory')?.detail, 'nothing is known of cards').toBe(
      '10.0.0.1:6379: 1 MiB of 7,630 MiB used',
    );
  }

  it('none of them: nothing is looked up in them', async () => {
    const url = await emptyDatabase();
    await expectUnmigrated(() => openRecords(url));
  });

  it('connections of daemons are fewer than all, or unknown', async () => {
    const states = await database.records.migrations.status();
    const last = states.length - 1;
    const half = states.map((state, i) => (i === last ? { ...state, appliedAtMs: null } : state));
    for (const status of [async () => half, away]) {
      elsewhere = [];
      await expectUnmigrated(async () => {
        const records = await openRecords();
        return { ...records, migrations: { ...records.migrations, status } };
      });
    }
  });
});

describe('where a store does not answer', () => {
  it('Redis: its checks are left out, and those of the fleet', async () => {
    const findings = await look({ openLive: away });
    expect(found(findings, 'redis')).toMatchObject({ status: 'failed', detail: 'away' });
    expect(
      findings.filter(({ check }) => REDIS.includes(check)).every(({ status }) => status === 'skipped'),
    ).toBe(true);
    expect(found(findings, 'postgresql connections')?.detail).toMatch(/^10 for 1 instance /);
    expect(found(findings, 'postgresql')?.status).toBe('ok');
    expect(findings.slice(-2)).toMatchObject([{ check: 'elsewhere' }, SKIPPED]);
    expect(elsewhere[0]).not.toBeNull();
    expect(fleet).toEqual([]);
    expect(closed).toEqual(['records']);
  });

  it('a Redis that evicts answers, and the finding says how to end that', async () => {
    const evicts = new CardpollError('config', 'redis_evicts', 'it evicts');
    expect(
      found(await look({ openLive: () => Promise.reject(evicts) }), 'redis maxmemory-policy'),
    ).toMatchObject({
      status: 'failed',
      command: 'CLI CONFIG SET maxmemory-policy noeviction',
    });
  });

  it('PostgreSQL: its checks are left out, and those of the fleet', async () => {
    const nobody = new URL(database.databaseUrl);
    nobody.port = '1';
    const findings = await look({ openRecords: () => openRecords(nobody.href) });
    expect(found(findings, 'postgresql')?.status).toBe('failed');
    expect(findings.filter(({ check }) => POSTGRES.includes(check))).toHaveLength(POSTGRES.length);
    expect(findings.filter(({ check, status }) => POSTGRES.includes(check) && status !== 'skipped')).toEqual(
      [],
    );
    expect(found(findings, 'redis')?.status).toBe('ok');
    expect(findings.slice(-2)).toMatchObject([{ check: 'elsewhere' }, SKIPPED]);
    expect(elsewhere).toEqual([null]);
    expect(closed.sort()).toEqual(['live', 'records']);
  });
});

it('an embedded store is for trying out: that is said of both, before what is of no store', async () => {
  expect(await examineEmbedded(async () => [ok('elsewhere', 'x')])).toMatchObject([
    { check: 'redis', status: 'warning', detail: expect.stringContaining('embedded') },
    { check: 'postgresql', status: 'warning', hint: 'configure Redis and PostgreSQL for a fleet' },
    { check: 'elsewhere', status: 'ok' },
  ]);
});
