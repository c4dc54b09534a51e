// The checks of the record store: the server, its schema and its clock. Used by examine.ts.

import { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import type { CleanupConfig } from '../../domain/cleanup.ts';
import { type Finding, failed, ok, skipped, unknown, warning } from '../../domain/finding.ts';
import { byteWords, countWords } from '../../domain/words.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  HeldSnapshot,
  LackedRights,
  MigrationState,
  RecordServer,
  RecordStore,
} from '../../store/ports/records/record-store.ts';
import { clockFinding, failure } from './finding.ts';

const LEAST_MAJOR_VERSION = 14;
const MONTHS_AHEAD = 3;
/** Normal transactions are far shorter: a batch of results takes milliseconds, a chunk of an import seconds. */
const OPEN_LONG_MS = 300_000;
/** Used if the time is unknown. A busy fleet makes this many transactions within the hour. */
const MANY_TRANSACTIONS = 10_000;
const RIGHTS = 'postgresql rights';
const CHECKS = [
  'postgresql version',
  'postgresql connections',
  'postgresql replication',
  'postgresql transactions',
  'migrations',
  RIGHTS,
  'usage partitions',
  'postgresql size',
  'postgresql clock',
];

export interface RecordStoreExpectations {
  readonly connectionsPerInstance: number;
  /** Live instances; at least 1, the one about to start. */
  readonly instances: number;
  readonly timeZone: string;
  /** `psql` with the options that connect to this database, without the password. */
  readonly psql: string;
}

export function recordStoreNotOpened(error: unknown): Finding[] {
  return [failure('postgresql', error), ...CHECKS.map((check) => skipped(check, 'see above'))];
}

export async function recordStoreFindings(
  records: RecordStore,
  clock: Clock,
  expected: RecordStoreExpectations,
): Promise<Finding[]> {
  const server = await records.server();
  const [migrations, complete] = await migrationFinding(records);
  return [
    ok('postgresql', 'answers'),
    versionFinding(server),
    connectionFinding(server, expected),
    replicationFinding(server, expected.psql),
    transactionFinding(server, expected.psql),
    migrations,
    rightsFinding(await records.lackedRights()),
    complete
      ? partitionFinding(server, new MonthCalendar(expected.timeZone), clock.now())
      : skipped('usage partitions', 'see above'),
    complete
      ? sizeFinding(server, await records.cleanup.configs(), await madeAt(records), clock.now())
      : skipped('postgresql size', 'see above'),
    await clockFinding('postgresql clock', () => records.now(), clock),
  ];
}

function versionFinding({ majorVersion, software }: RecordServer): Finding {
  const check = 'postgresql version';
  return majorVersion >= LEAST_MAJOR_VERSION
    ? ok(check, software)
    : failed(check, `${software} lacks features that cardpoll needs`, {
        hint: `upgrade it to PostgreSQL ${LEAST_MAJOR_VERSION} or later`,
      });
}

function connectionFinding(
  { maxConnections, connections, ownConnections }: RecordServer,
  { connectionsPerInstance, instances, psql }: RecordStoreExpectations,
): Finding {
  const check = 'postgresql connections';
  const wanted = connectionsPerInstance * instances;
  const others = Math.max(0, connections - ownConnections);
  const detail =
    `${wanted} for ${countWords(instances, 'instance')} and ${others} of others, ` + `of ${maxConnections}`;
  if (wanted + others <= maxConnections) return ok(check, detail);
  const needed = Math.ceil((wanted + others) * 1.2);
  return failed(check, `${detail}: instances would be refused connections`, {
    hint: 'lower database_max_connections, or raise the limit and restart PostgreSQL',
    command: `${psql} -c 'ALTER SYSTEM SET max_connections = ${needed}'`,
  });
}

function replicationFinding({ readOnlyBy, waitsForStandby, standbys }: RecordServer, psql: string): Finding {
  const check = 'postgresql replication';
  if (readOnlyBy === 'standby') {
    return failed(check, 'it takes no writes: it is a standby', {
      hint: 'point database_url to the primary, or promote this server',
      command: `${psql} -c 'SELECT pg_promote()'`,
    });
  }
  if (readOnlyBy === 'setting') {
    return failed(check, 'it takes no writes: default_transaction_read_only is on', {
      hint: 'find out where and why it is set, and reset it there',
      command: `${psql} -c "SELECT source, sourcefile FROM pg_settings WHERE name = 'default_transaction_read_only'"`,
    });
  }
  if (waitsForStandby && standbys === 0) {
    return failed(check, 'commits wait for a standby, and none is connected: nothing can be written', {
      hint: 'bring the standby back, or continue without it',
      command: `${psql} -c "ALTER SYSTEM SET synchronous_standby_names = ''" -c 'SELECT pg_reload_conf()'`,
    });
  }
  return ok(check, `${standbys} standbys${waitsForStandby ? ', commits wait for them' : ''}`);
}

/** Each poll leaves a dead row, which vacuum removes only when no snapshot is as old as that row. */
function transactionFinding({ snapshots }: RecordServer, psql: string): Finding {
  const check = 'postgresql transactions';
  const old = snapshots.find(({ openMs, transactions }) =>
    openMs === null ? transactions >= MANY_TRANSACTIONS : openMs >= OPEN_LONG_MS,
  );
  if (old !== undefined) {
    const { kind, name, openMs, transactions, remedy } = old;
    const since = openMs === null ? '' : `, open for ${Math.floor(openMs / 60_000)} min,`;
    const detail = `${HOLDERS[kind].what} ${name}${since} keeps the dead rows of the last ${transactions} transactions: vacuum does not remove them, so tables grow`;
    return warning(check, detail, {
      hint: HOLDERS[kind].hint,
      command: remedy === null ? null : `${psql} -c "${remedy}"`,
    });
  }
  const hidden = snapshots.filter(({ kind, openMs }) => kind === 'session' && openMs === null);
  if (hidden.length === 0) return ok(check, 'no old transaction keeps dead rows');
  const names = hidden.map(({ name }) => name).join(', ');
  return unknown(check, `not known: this user may not see for how long others are open: ${names}`, {
    hint: 'as a superuser of PostgreSQL: GRANT pg_read_all_stats TO the user of database_url',
  });
}

const DUMP_HINT = 'docs/upgrading.md says how to dump a database that polls';
const ON_STANDBY =
  'a query on that standby keeps them, by hot_standby_feedback: end the query there, or turn the setting off';
const HOLDERS: Readonly<Record<HeldSnapshot['kind'], { readonly what: string; readonly hint: string }>> = {
  session: { what: 'the session of', hint: `end it if it was forgotten; ${DUMP_HINT}` },
  prepared: { what: 'the prepared transaction', hint: 'end it if it was forgotten' },
  slot: {
    what: 'the replication slot',
    hint: `if its standby is gone, drop the slot; otherwise ${ON_STANDBY}`,
  },
  standby: { what: 'the standby', hint: ON_STANDBY },
};

/** @returns the finding, and whether all migrations are applied. */
async function migrationFinding(records: RecordStore): Promise<[Finding, boolean]> {
  const check = 'migrations';
  try {
    const states = await records.migrations.status();
    const named = (wanted: (state: MigrationState) => boolean) =>
      states
        .filter(wanted)
        .map(({ id }) => id)
        .join(', ');
    const missing = named(({ appliedAtMs }) => appliedAtMs === null);
    const newer = named((state) => state.newer);
    if (missing !== '') {
      const detail = `missing: ${missing}; the next daemon that starts applies them`;
      return [warning(check, detail, { command: 'cardpoll migrate up' }), false];
    }
    if (newer !== '') {
      const hint = 'finish the upgrade here too; docs/upgrading.md describes the way back';
      return [warning(check, `applied by a later version: ${newer}`, { hint }), true];
    }
    return [ok(check, `all ${states.length} applied`), true];
  } catch (error) {
    return [failure(check, error), false];
  }
}

/** Only the leader creates partitions: workers and the API of a fleet may have a user without that right. */
export function rightsFinding({ role, always, monthly }: LackedRights): Finding {
  const [needed] = always;
  if (needed !== undefined) {
    return failed(RIGHTS, `${role} cannot be used: ${needed.message}`, { hint: needed.remedy });
  }
  const [partitions] = monthly;
  if (partitions === undefined) return ok(RIGHTS, 'its user has all rights that cardpoll needs');
  const detail = `${role} may not make or drop monthly partitions (${partitions.message}): no usage is written in a month without one`;
  return warning(RIGHTS, detail, {
    hint: `${partitions.remedy} Or run cardpoll migrate up as the owner each day, which makes them (docs/security.md).`,
  });
}

/** The leader creates the partitions. The usage of a month without a partition cannot be written. */
function partitionFinding({ usageMonths }: RecordServer, calendar: MonthCalendar, nowMs: number): Finding {
  const check = 'usage partitions';
  const present = calendar.monthOf(nowMs);
  const ahead = usageMonths.filter((month) => month > present).length;
  const covered = usageMonths.includes(present);
  if (covered && ahead >= MONTHS_AHEAD) return ok(check, `${present} and ${ahead} months ahead`);
  if (usageMonths.length === 0) return ok(check, 'none yet; the first daemon creates them');
  const missing = covered ? `only ${ahead} months ahead of ${present}` : `none for ${present}`;
  const judge = covered ? warning : failed;
  return judge(check, `${missing}: no leader has created them`, {
    hint: 'a daemon with the role scheduler creates them when it leads',
    command: 'cardpoll daemon --roles scheduler',
  });
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** When the schema was created. */
async function madeAt({ migrations }: RecordStore): Promise<number> {
  return Math.min(...(await migrations.status()).flatMap(({ appliedAtMs }) => appliedAtMs ?? []));
}

/**
 * Usage records are the only data that a fleet adds without end: per day as many as in the fullest month. The free space of its
 * disk is unknown here.
 */
function sizeFinding(
  { databaseBytes, usageRecords }: RecordServer,
  configs: readonly CleanupConfig[],
  madeAtMs: number,
  nowMs: number,
): Finding {
  const perDay = usageRecords.map(({ month, bytes }) => {
    const [year = 0, monthOfYear = 0] = month.split('-').map(Number);
    const beganMs = Math.max(madeAtMs, Date.UTC(year, monthOfYear - 1));
    const forMs = Math.min(nowMs, Date.UTC(year, monthOfYear)) - beganMs;
    return (bytes / Math.max(HOUR_MS, forMs)) * DAY_MS;
  });
  if (perDay.length === 0) return ok('postgresql size', `${byteWords(databaseBytes)}; no usage records yet`);
  const dayBytes = Math.max(...perDay);
  const kept = configs.find(({ target }) => target === 'usage_records');
  const keptWords =
    kept?.enabled === true
      ? `are kept for ${kept.retentionDays} days: ${byteWords(dayBytes * kept.retentionDays)} in all`
      : `are never removed: ${byteWords(dayBytes * 365)} a year`;
  return ok(
    'postgresql size',
    `${byteWords(databaseBytes)}; usage records take ${byteWords(dayBytes)} a day and ${keptWords}`,
  );
}
