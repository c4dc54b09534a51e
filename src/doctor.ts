// The composition root of `cardpoll doctor`: opens the stores and the gateway as a daemon with this configuration would,
// checks them, and closes them. The checks are in operations/doctor/.

import type { DaemonConfig } from './config/daemon-config.ts';
import type { Card } from './domain/cards/card.ts';
import { MonthCalendar } from './domain/cards/month-calendar.ts';
import { type Finding, failed, ok, warning } from './domain/finding.ts';
import { gatewayFactsOf } from './domain/gateway/gateway-config.ts';
import { TASK_TYPES, TASKS } from './domain/task-type.ts';
import { probeProfile, type UsualDurations } from './gateway/trial/profile-probe.ts';
import { examine, examineEmbedded, type Stores } from './operations/doctor/examine.ts';
import { failure } from './operations/doctor/finding.ts';
import { fleetFindings } from './operations/doctor/fleet.ts';
import { tokenFindings } from './operations/doctor/upkeep.ts';
import { systemClock } from './platform/clock.ts';
import { readDiskSpace } from './platform/directory.ts';
import { proxyFindings } from './proxy-report.ts';
import type { LiveStore } from './store/ports/live/live-store.ts';
import type { RecordStore } from './store/ports/records/record-store.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { parseRedisUrl } from './store/redis/client/redis-url.ts';
import { buildHealth, openRedis } from './stores.ts';

const IN_MEMORY = ':memory:';
/** How long a changed or imported card takes to reach its rings. */
const SETTLE_MS = 3_000;
const MIB = 1_048_576;
const DISK_PERCENT = { warningBelow: 10, failedBelow: 2 };
/** More than one, because the gateway may not know a card. */
const CARDS_ASKED_ABOUT = 3;

/** @param daemonAnswers whether the daemon reports about the fleet; otherwise its stores are read */
export function runDoctor(config: DaemonConfig, daemonAnswers: boolean): Promise<Finding[]> {
  const { stores, logDir } = config;
  const elsewhere = async (records: RecordStore | null, live: LiveStore | null): Promise<Finding[]> => {
    const groups = await Promise.all([gatewayFindings(config, records, live), directoryFindings(logDir)]);
    return [
      ...proxyFindings(config),
      ...groups.flat(),
      ...tokenFindings(config.adminTokens, systemClock.now()),
    ];
  };
  if (stores.kind === 'embedded') {
    return examineEmbedded(async () => [
      ...(await elsewhere(null, null)),
      stores.dataDir === IN_MEMORY
        ? ok('data directory', 'nothing is kept')
        : await diskFinding('data directory', stores.dataDir),
    ]);
  }
  const { redisUrl, databaseUrl, databaseMaxConnections } = stores;
  return examine({
    openLive: () => openRedis(stores),
    openRecords: () =>
      openPostgresRecordStore({ url: databaseUrl, applicationName: 'cardpoll-doctor', readsOnly: true }),
    clock: systemClock,
    redisCli: redisCliOf(redisUrl),
    database: {
      connectionsPerInstance: databaseMaxConnections,
      timeZone: config.timeZone,
      psql: psqlOf(databaseUrl),
    },
    elsewhere,
    fleet: (opened) => examineFleet(config, opened, daemonAnswers),
  });
}

function examineFleet(config: DaemonConfig, stores: Stores, daemonAnswers: boolean): Promise<Finding[]> {
  return fleetFindings({
    ...stores,
    ...gatewayFactsOf(config.gateway),
    clock: systemClock,
    random: Math.random,
    settle: () => systemClock.sleep(SETTLE_MS),
    timeZone: config.timeZone,
    cleanupSchedule: config.cleanup.schedule,
    receivers: config.webhooks.receivers,
    stops: config.stops,
    health: daemonAnswers ? null : buildHealth(config, stores, null),
  });
}

async function gatewayFindings(
  { gateway, proxies, timeZone }: Pick<DaemonConfig, 'gateway' | 'proxies' | 'timeZone'>,
  records: RecordStore | null,
  live: LiveStore | null,
): Promise<Finding[]> {
  try {
    const deps = { clock: systemClock, calendar: new MonthCalendar(timeZone), proxies };
    return await probeProfile(gateway, await someCards(records), deps, await usualDurations(live));
  } catch (error) {
    return [failure('gateway', error)];
  }
}

/** Empty if Redis does not answer, which is a separate finding. */
async function usualDurations(live: LiveStore | null): Promise<UsualDurations> {
  if (live === null) return {};
  try {
    const usual = TASK_TYPES.map(async (taskType) => {
      const ms = (await live.work.limitRecord(taskType))?.usual?.meanMs;
      return ms === undefined ? [] : [[TASKS[taskType].interface, ms] as const];
    });
    return Object.fromEntries((await Promise.all(usual)).flat());
  } catch {
    return {};
  }
}

/** Cards that the gateway should know; empty if PostgreSQL does not answer, which is a separate finding. */
async function someCards(records: RecordStore | null): Promise<readonly Card[]> {
  if (records === null) return [];
  try {
    const first = await records.cards.page(0, CARDS_ASKED_ABOUT);
    return await records.cards.byIds(first.map(({ cardId }) => cardId));
  } catch {
    return [];
  }
}

async function directoryFindings(logDir: string | null): Promise<Finding[]> {
  const check = 'log directory';
  return [logDir === null ? ok(check, 'logs go to standard output') : await diskFinding(check, logDir)];
}

async function diskFinding(check: string, dir: string): Promise<Finding> {
  try {
    const { existing, exists, freeBytes, totalBytes, freeFiles } = await readDiskSpace(dir);
    const where = exists ? `${dir} is writable` : `${dir} can be created in ${existing}`;
    const percent = totalBytes === 0 ? 100 : (100 * freeBytes) / totalBytes;
    const detail = `${where}, ${Math.floor(freeBytes / MIB)} MiB (${Math.floor(percent)} %) of its disk are free`;
    const full = percent < DISK_PERCENT.failedBelow || freeFiles === 0;
    if (!full && percent >= DISK_PERCENT.warningBelow) return ok(check, detail);
    return (full ? failed : warning)(check, `${detail}: what cannot be written is lost`, {
      hint: 'rotate logs or remove old files; to see the largest ones',
      command: `du -xah ${existing} | sort -h | tail`,
    });
  } catch (error) {
    return failure(check, error, `ls -ld ${dir}`);
  }
}

/** The redis-cli command that connects; with Sentinel or Cluster the operator knows the server. */
function redisCliOf(url: string): string {
  try {
    const { mode, nodes, tls } = parseRedisUrl(url);
    const [node] = nodes;
    return mode !== 'standalone' || node === undefined
      ? 'redis-cli'
      : `redis-cli -h ${node.host} -p ${node.port}${tls ? ' --tls' : ''}`;
  } catch {
    return 'redis-cli';
  }
}

/** The psql command that connects, without the password. */
function psqlOf(url: string): string {
  try {
    const shown = new URL(url);
    shown.password = '';
    shown.searchParams.delete('password');
    return `psql '${shown}'`;
  } catch {
    return 'psql';
  }
}
