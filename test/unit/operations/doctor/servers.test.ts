// What the doctor says of single servers: every state in which a Redis or a PostgreSQL can be found.

import { describe, expect, it } from 'vitest';
import { liveStoreFindings, liveStoreNotOpened } from '../../../../src/operations/doctor/live-store.ts';
import { recordStoreFindings, recordStoreNotOpened } from '../../../../src/operations/doctor/record-store.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import type { LiveServer, MissingRights } from '../../../../src/store/ports/live/live-store.ts';
import type {
  HeldSnapshot,
  LackedRights,
  RecordServer,
  RecordStore,
} from '../../../../src/store/ports/records/record-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const MIB = 1_048_576;
const CLOCK = new FakeClock('2026-11-15T00:00:00Z');

const briefly = (findings: readonly { check: string; status: string; detail: string }[]) =>
  findings.map(({ check, status, detail }) => `${check}: ${status}: ${detail}`);

describe('a Redis', () => {
  const WELL: LiveServer = {
    address: '[fd00::1]:6379',
    software: 'Redis 7.0.15',
    redisVersion: '7.0.15',
    writable: true,
    usedBytes: 2 * MIB,
    limitBytes: 100 * MIB,
    threadSeconds: 5,
    replicas: 0,
    replicasInStep: 0,
    persistent: true,
    savesFail: false,
  };
  const cli = (words: string) => `redis-cli -h [fd00::1] -p 6379 ${words}`;

  /** @param workMs what the thread of each server works in the second that is watched */
  function look(
    servers: readonly Partial<LiveServer>[],
    cards: number | null = null,
    workMs: readonly (number | null)[] = [],
    missing: MissingRights | null = null,
  ) {
    let elapsedMs = 0;
    const clock: Clock = {
      now: () => CLOCK.now(),
      monotonic: () => elapsedMs,
      sleep: async (ms) => {
        elapsedMs += ms;
      },
    };
    const seconds = (i: number) => {
      const ms = workMs[i] ?? (i in workMs ? null : 0);
      return ms === null ? null : 5 + (ms * elapsedMs) / 1e6;
    };
    const embedded = openLimitedLiveStore({ clock: CLOCK });
    const live = {
      ...embedded,
      missingRights: async () => missing ?? embedded.missingRights(),
      servers: async () => servers.map((server, i) => ({ ...WELL, threadSeconds: seconds(i), ...server })),
    };
    return liveStoreFindings(live, clock, cards);
  }
  const found = async (check: string, server: Partial<LiveServer>, cards?: number) =>
    (await look([server], cards)).find((one) => one.check === check);

  it('a Redis that is well', async () => {
    expect(briefly(await look([{}]))).toEqual([
      'redis: ok: answers',
      'redis rights: ok: its user has all rights that cardpoll needs',
      'redis maxmemory-policy: ok: noeviction',
      'redis version: ok: Redis 7.0.15',
      'redis memory: ok: [fd00::1]:6379: 2 MiB of 100 MiB used',
      'redis load: ok: its thread is 0 % busy',
      'redis replication: ok: 0 replicas, persistence is on; lost state is rebuilt from the cards',
      'redis clock: ok: +0 ms against this machine',
    ]);
  });

  it('without a writable server is unknown', async () => {
    const nothing = (check: string) => `${check}: unknown: no server accepts writes`;
    expect(briefly(await look([])).slice(2, 7)).toEqual(
      ['redis', 'redis', 'redis', 'redis load', 'redis'].map(nothing),
    );
  });

  it.each([
    ['Redis 6.2.0', '6.2.0', 'ok'],
    ['Redis 6.3', '6.3', 'ok'],
    ['Redis 10.0.1', '10.0.1', 'ok'],
    ['Redis 6.1.9', '6.1.9', 'failed'],
    ['Redis 5.9.0', '5.9.0', 'failed'],
    ['Valkey 9.1.2', '7.2.4', 'ok'],
    ['speaks Redis 5.0.0, server name other', '5.0.0', 'failed'],
    ['server name garnet (1.1.0)', null, 'ok'],
    [null, null, 'unknown'],
  ])('a server that says %s (Redis %s): %s', async (software, redisVersion, status) => {
    const finding = await found('redis version', { software, redisVersion });
    expect(finding?.status).toBe(status);
    if (software !== null) expect(finding?.detail).toContain(software);
  });

  it('a Redis that reports nothing may evict keys', async () => {
    const policy = await found('redis maxmemory-policy', { software: null });
    expect([policy?.status, policy?.hint]).toEqual(['unknown', expect.stringContaining('+info')]);
  });

  it.each([
    [['+hset', '~polling:*'], [], 'failed', "ACL SETUSER poller '+hset' '~polling:*'"],
    [[], ['+publish'], 'warning', "ACL SETUSER poller '+publish'"],
  ])('a Redis whose user lacks %j and %j: %s', async (needed, useful, status, words) => {
    const findings = await look([{}], null, [], { user: 'poller', needed, useful });
    expect(findings.find(({ check }) => check === 'redis rights')).toMatchObject({
      status,
      command: cli(words),
    });
  });

  it('a Redis that is too old must be upgraded, and one that reports no version is named', async () => {
    expect(await found('redis version', { software: 'Redis 6.1.9', redisVersion: '6.1.9' })).toMatchObject({
      detail: '[fd00::1]:6379 lacks commands that cardpoll needs: Redis 6.1.9',
      hint: 'replace it with Valkey, or with Redis 6.2 or later',
    });
    expect((await found('redis version', { software: null }))?.detail).toBe(
      '[fd00::1]:6379 does not report its version',
    );
  });

  it.each([
    [{ usedBytes: 80 * MIB }, 'ok', null],
    [{ usedBytes: 80 * MIB + 1 }, 'warning', cli('CONFIG SET maxmemory 161mb')],
    [{ usedBytes: 95 * MIB }, 'warning', cli('CONFIG SET maxmemory 190mb')],
    [{ usedBytes: 95 * MIB + 1 }, 'failed', cli('CONFIG SET maxmemory 191mb')],
    [{ usedBytes: null }, 'unknown', cli('INFO memory')],
    [{ limitBytes: null }, 'unknown', cli('INFO memory')],
    [{ limitBytes: 0 }, 'unknown', cli('INFO memory')],
  ])('with %j: %s', async (memory, status, command) => {
    expect(await found('redis memory', memory)).toMatchObject({ status, command });
  });

  it('must have room for the fleet, whatever it holds by now', async () => {
    // 98 bytes a card: 935 MiB for ten million, to be shared by two servers.
    const tight = { limitBytes: 900 * MIB, usedBytes: 2_000 * 1_024 };
    expect(await found('redis memory', tight, 10_000_000)).toEqual({
      check: 'redis memory',
      status: 'failed',
      detail: '[fd00::1]:6379: 2 MiB of 900 MiB used; this fleet needs up to 935 MiB',
      hint: expect.stringContaining('polling stops'),
      command: cli('CONFIG SET maxmemory 1870mb'),
    });
    // The rings of all task types may be on one of them: 172 MiB, and half of 763 MiB of the cache.
    const [, , , , shared] = await look([tight, tight], 10_000_000);
    expect(shared).toMatchObject({ status: 'ok', detail: expect.stringContaining('up to 554 MiB') });
  });

  it('Redis on several servers: the memory of the fullest is shown', async () => {
    const other = { address: '10.0.0.5:6379', usedBytes: 50 * MIB };
    const [, , , , memory] = await look([{}, other, {}]);
    expect(memory).toMatchObject({ status: 'ok', detail: '10.0.0.5:6379: 50 MiB of 100 MiB used' });
  });

  it.each<[Partial<LiveServer>, string, string, string | null]>([
    [{ replicas: 2, replicasInStep: 2, persistent: false }, 'ok', '2 replicas, persistence is off', null],
    [{ persistent: null }, 'ok', '0 replicas, persistence is off', null],
    [{ writable: null }, 'unknown', '[fd00::1]:6379 does not report its role', null],
    [{ replicas: null }, 'unknown', '[fd00::1]:6379 does not report its role', null],
    [
      { writable: false, savesFail: true },
      'failed',
      '[fd00::1]:6379 is a replica and accepts no writes',
      cli('REPLICAOF NO ONE'),
    ],
    [{ savesFail: true }, 'failed', '[fd00::1]:6379 could not write to its disk', cli('BGSAVE')],
    [
      { replicas: 3, replicasInStep: 1 },
      'warning',
      '2 of 3 replicas of [fd00::1]:6379 are behind: the writes they lack',
      cli('INFO replication'),
    ],
  ])('a Redis that replicates and saves as %j', async (server, status, detail, command) => {
    expect(await found('redis replication', server)).toMatchObject({
      status,
      detail: expect.stringContaining(detail),
      command,
    });
  });

  it.each<[string, readonly (number | null)[], string, string]>([
    ['a fifth', [200], 'ok', 'its thread is 20 % busy, full at about 5.0 times this load'],
    ['little', [14], 'ok', 'its thread is 1 % busy, full at more than 10 times this load'],
    ['nearly a tenth', [94], 'ok', 'its thread is 9 % busy, full at more than 10 times this load'],
    ['much', [700], 'ok', 'its thread is 70 % busy, full at about 1.4 times this load'],
    ['nearly all', [710], 'warning', 'a:1: its thread is 71 % busy, full at about 1.4 times this load'],
    ['what is known of it is nothing', [null], 'unknown', 'a:1 does not report its CPU time'],
    [
      'the busiest of three',
      [10, 800, 90],
      'warning',
      'b:2: its thread is 80 % busy, full at about 1.3 times this load',
    ],
    ['one of two is not known', [900, null], 'unknown', 'b:2 does not report its CPU time'],
  ])('says when its thread is full: %s', async (_, workMs, status, detail) => {
    const servers = ['a:1', 'b:2', 'c:3'].slice(0, workMs.length).map((address) => ({ address }));
    const load = (await look(servers, null, workMs)).find(({ check }) => check === 'redis load');
    expect([load?.status, load?.detail]).toEqual([status, detail]);
  });

  it('was restarted while it was looked at: its load is not known', async () => {
    const work = [-1_000];
    expect((await look([{}], null, work)).find(({ check }) => check === 'redis load')?.status).toBe(
      'unknown',
    );
  });

  it('is shown by the worst: failed before unknown before a warning before what is well', async () => {
    const states: readonly Partial<LiveServer>[] = [
      {},
      { replicas: 1 },
      { writable: null },
      { writable: false },
    ];
    const shown: unknown[] = [];
    for (const count of [1, 2, 3, 4]) shown.push((await look(states.slice(0, count)))[6]?.status);
    expect(shown).toEqual(['ok', 'warning', 'unknown', 'failed']);
  });

  it.each([
    ['redis_evicts', 'redis maxmemory-policy', 'CLI CONFIG SET maxmemory-policy noeviction'],
    ['redis_cannot_save', 'redis replication', 'CLI BGSAVE'],
  ])('a Redis that is refused for %s answers, and the finding says what to do', (code, check, command) => {
    const findings = liveStoreNotOpened(new CardpollError('unavailable', code, 'words of it'), 'CLI');
    expect(findings.find(({ status }) => status === 'failed')).toMatchObject({
      check,
      detail: 'words of it',
      hint: expect.stringMatching(/./),
      command,
    });
    expect(briefly(findings).filter((line) => !line.startsWith(check))).toEqual([
      'redis: ok: answers',
      ...[
        'redis rights',
        'redis maxmemory-policy',
        'redis version',
        'redis memory',
        'redis load',
        'redis replication',
        'redis clock',
      ]
        .filter((other) => other !== check)
        .map((other) => `${other}: skipped: see above`),
    ]);
  });

  it('a Redis that does not answer is one finding, and the rest is left out', () => {
    for (const error of [new CardpollError('unavailable', 'redis_unreachable', 'away'), new Error('away')])
      expect(briefly(liveStoreNotOpened(error, 'CLI'))).toEqual([
        'redis: failed: away',
        'redis rights: skipped: see above',
        'redis maxmemory-policy: skipped: see above',
        'redis version: skipped: see above',
        'redis memory: skipped: see above',
        'redis load: skipped: see above',
        'redis replication: skipped: see above',
        'redis clock: skipped: see above',
      ]);
  });
});

describe('a PostgreSQL', () => {
  const WELL: RecordServer = {
    majorVersion: 15,
    software: 'PostgreSQL 15.18',
    maxConnections: 100,
    connections: 12,
    ownConnections: 10,
    readOnlyBy: null,
    waitsForStandby: false,
    standbys: 0,
    snapshots: [],
    usageMonths: ['2026-11', '2026-12', '2027-01', '2027-02'],
    databaseBytes: 6.1e9,
    usageRecords: [
      { month: '2026-10', bytes: 31e9 },
      { month: '2026-11', bytes: 7e9 },
    ],
  };
  const applied = (id: string) => ({ id, appliedAtMs: 1, newer: false });
  const EXPECTED = { connectionsPerInstance: 10, instances: 1, timeZone: 'UTC', psql: 'psql -h db' };

  function look(
    server: Partial<RecordServer>,
    status = async () => [applied('1'), applied('2')],
    instances = 1,
    enabled = true,
    lacked: Partial<LackedRights> = {},
  ) {
    const records = {
      lackedRights: async () => ({ role: 'run', always: [], monthly: [], ...lacked }),
      server: async () => ({ ...WELL, ...server }),
      migrations: { status },
      cleanup: { configs: async () => [{ target: 'usage_records', retentionDays: 180, enabled }] },
      now: async () => CLOCK.now(),
    };
    return recordStoreFindings(records as unknown as RecordStore, CLOCK, { ...EXPECTED, instances });
  }
  const found = async (check: string, server: Partial<RecordServer>, instances?: number) =>
    (await look(server, undefined, instances)).find((one) => one.check === check);

  it('a PostgreSQL that is well', async () => {
    expect(briefly(await look({}))).toEqual([
      'postgresql: ok: answers',
      'postgresql version: ok: PostgreSQL 15.18',
      'postgresql connections: ok: 10 for 1 instance and 2 of others, of 100',
      'postgresql replication: ok: 0 standbys',
      'postgresql transactions: ok: no old transaction keeps dead rows',
      'migrations: ok: all 2 applied',
      'postgresql rights: ok: its user has all rights that cardpoll needs',
      'usage partitions: ok: 2026-11 and 3 months ahead',
      'postgresql size: ok: 6.1 GB; usage records take 1.0 GB a day and are kept for 180 days: 180.0 GB in all',
      'postgresql clock: ok: +0 ms against this machine',
    ]);
  });

  it('a user that lacks rights: a failure without a needed one, a warning without partitions', async () => {
    const refused = (message: string) => [{ message, remedy: 'Run: GRANT ...' }];
    const rights = async (lacked: Partial<LackedRights>) =>
      (await look({}, undefined, 1, true, lacked)).find(({ check }) => check === 'postgresql rights');
    const monthly = refused('must be owner of table audit');
    expect(await rights({ monthly })).toMatchObject({
      status: 'warning',
      detail: expect.stringContaining(
        'run may not make or drop monthly partitions (must be owner of table audit)',
      ),
      hint: expect.stringMatching(/^Run: GRANT .* Or run cardpoll migrate up as the owner each day/),
    });
    expect(await rights({ always: refused('permission denied for table cards'), monthly })).toMatchObject({
      status: 'failed',
      detail: 'run cannot be used: permission denied for table cards',
      hint: 'Run: GRANT ...',
    });
  });

  it.each<[string, RecordServer['usageRecords'], boolean, string]>([
    [
      'usage records that are never removed',
      [{ month: '2026-11', bytes: 14e9 }],
      false,
      'take 1.0 GB a day and are never removed: 365.0 GB a year',
    ],
    [
      'usage records that are kept for half a year',
      [{ month: '2026-11', bytes: 14e6 }],
      true,
      'take 1.0 MB a day and are kept for 180 days: 180.0 MB in all',
    ],
  ])('says how it grows: %s', async (_, usageRecords, enabled, detail) => {
    const size = (await look({ usageRecords }, undefined, 1, enabled)).find(
      ({ check }) => check === 'postgresql size',
    );
    expect(size?.detail).toBe(`6.1 GB; usage records ${detail}`);
  });

  it('does not guess how it grows before there is a usage record', async () => {
    const size = (await look({ usageRecords: [] })).find(({ check }) => check === 'postgresql size');
    expect(size?.detail).toBe('6.1 GB; no usage records yet');
  });

  it('takes the usage records of a fleet that began two days ago for those of two days', async () => {
    const began = async () => [{ ...applied('1'), appliedAtMs: CLOCK.now() - 2 * 86_400_000 }];
    const usageRecords = [{ month: '2026-11', bytes: 14e9 }];
    const size = (await look({ usageRecords }, began)).find(({ check }) => check === 'postgresql size');
    expect(size?.detail).toContain('usage records take 7.0 GB a day');
  });

  it('a PostgreSQL of a version that is too old', async () => {
    expect((await found('postgresql version', { majorVersion: 14 }))?.status).toBe('ok');
    const old = { majorVersion: 13, software: 'PostgreSQL 13.23' };
    expect(await found('postgresql version', old)).toMatchObject({
      status: 'failed',
      detail: 'PostgreSQL 13.23 lacks features that cardpoll needs',
      hint: 'upgrade it to PostgreSQL 14 or later',
    });
  });

  it('has connections for the last instance, or for how many it must', async () => {
    expect(await found('postgresql connections', { maxConnections: 32 }, 3)).toMatchObject({
      status: 'ok',
      detail: '30 for 3 instances and 2 of others, of 32',
    });
    expect(await found('postgresql connections', { maxConnections: 31 }, 3)).toMatchObject({
      status: 'failed',
      detail: '30 for 3 instances and 2 of others, of 31: instances would be refused connections',
      command: `psql -h db -c 'ALTER SYSTEM SET max_connections = 39'`,
    });
    const none = await found('postgresql connections', { connections: 4, ownConnections: 5 });
    expect(none?.detail, 'counted a moment apart').toContain(' and 0 of others');
  });

  it.each<[Partial<RecordServer>, string, string, string | null]>([
    [{ waitsForStandby: true, standbys: 2 }, 'ok', '2 standbys, commits wait for them', null],
    [
      { waitsForStandby: true },
      'failed',
      'commits wait for a standby, and none is connected: nothing can be written',
      `psql -h db -c "ALTER SYSTEM SET synchronous_standby_names = ''" -c 'SELECT pg_reload_conf()'`,
    ],
    [
      { readOnlyBy: 'standby' },
      'failed',
      'it takes no writes: it is a standby',
      `psql -h db -c 'SELECT pg_promote()'`,
    ],
    [
      { readOnlyBy: 'setting' },
      'failed',
      'it takes no writes: default_transaction_read_only is on',
      `psql -h db -c "SELECT source, sourcefile FROM pg_settings WHERE name = 'default_transaction_read_only'"`,
    ],
  ])('a PostgreSQL that replicates as %j', async (server, status, detail, command) => {
    expect(await found('postgresql replication', server)).toMatchObject({ status, detail, command });
  });

  const held = (kind: HeldSnapshot['kind'], openMs: number | null, transactions: number): HeldSnapshot => ({
    kind,
    name: `${kind} x`,
    openMs,
    transactions,
    remedy: openMs === null ? null : 'SELECT pg_terminate_backend(7)',
  });

  it.each([
    [[held('session', 29_999, 9_000_000)], 'ok', /^no old transaction/, null],
    [
      [held('session', 1_000, 400_000), held('session', 300_000, 70)],
      'warning',
      /^the session of session x, open for 5 min, keeps the dead rows of the last 70 transactions: /,
      'psql -h db -c "SELECT pg_terminate_backend(7)"',
    ],
    [[held('slot', null, 9_999)], 'ok', /^no old transaction/, null],
    [
      [held('slot', null, 10_000)],
      'warning',
      /^the replication slot slot x keeps the dead rows of the last 10000 transactions/,
      null,
    ],
    [[held('standby', null, 10_000)], 'warning', /^the standby standby x keeps/, null],
    [[held('prepared', 300_000, 1)], 'warning', /^the prepared transaction prepared x, open for 5 min/, /7/],
  ])('a PostgreSQL whose dead rows are kept by %j', async (snapshots, status, detail, command) => {
    const finding = await found('postgresql transactions', { snapshots });
    expect(finding?.status).toBe(status);
    expect(finding?.detail).toMatch(detail);
    if (command === null) expect(finding?.command).toBeNull();
    else expect(finding?.command).toMatch(command);
  });

  it('a PostgreSQL whose sessions of other users are hidden: how old they are is known by transactions only', async () => {
    expect(
      await found('postgresql transactions', { snapshots: [held('session', null, 9_999)] }),
    ).toMatchObject({
      status: 'unknown',
      detail: 'not known: this user may not see for how long others are open: session x',
    });
    const old = { snapshots: [held('session', null, 10_000)] };
    expect((await found('postgresql transactions', old))?.status).toBe('warning');
  });

  it('lacks migrations, or cannot list them: then the partitions are not checked', async () => {
    const missing = (id: string) => ({ ...applied(id), appliedAtMs: null });
    const some = async () => [applied('1'), missing('2'), missing('3')] as ReturnType<typeof applied>[];
    expect(briefly(await look({}, some)).slice(5, 9)).toEqual([
      'migrations: warning: missing: 2, 3; the next daemon that starts applies them',
      'postgresql rights: ok: its user has all rights that cardpoll needs',
      'usage partitions: skipped: see above',
      'postgresql size: skipped: see above',
    ]);
    expect(briefly(await look({}, () => Promise.reject(new Error('odd')))).slice(5, 9)).toEqual([
      'migrations: failed: odd',
      'postgresql rights: ok: its user has all rights that cardpoll needs',
      'usage partitions: skipped: see above',
      'postgresql size: skipped: see above',
    ]);
  });

  it('a PostgreSQL that does not answer is one finding, and the rest is left out', () => {
    expect(briefly(recordStoreNotOpened(new Error('away')))).toEqual([
      'postgresql: failed: away',
      'postgresql version: skipped: see above',
      'postgresql connections: skipped: see above',
      'postgresql replication: skipped: see above',
      'postgresql transactions: skipped: see above',
      'migrations: skipped: see above',
      'postgresql rights: skipped: see above',
      'usage partitions: skipped: see above',
      'postgresql size: skipped: see above',
      'postgresql clock: skipped: see above',
    ]);
  });
});
