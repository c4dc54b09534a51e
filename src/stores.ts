// Opens and migrates the stores of a daemon, and checks them before they are used. Used by wiring.ts; the doctor and the commands
// that need only the stores open them here too. Also builds the further dependencies of operations, for both.
import type { DaemonConfig, ExternalStoresConfig } from './config/daemon-config.ts';
import type { Finding } from './domain/finding.ts';
import type { Fleet } from './domain/fleet.ts';
import { gatewayFactsOf } from './domain/gateway/gateway-config.ts';
import { WebhookTester } from './engine/alerts/webhook-attempt.ts';
import { FleetWatch, requireOwnFleet } from './engine/fleet-watch.ts';
import { FleetHealth } from './health/fleet-health.ts';
import type { Presence } from './health/presence.ts';
import type { Stores } from './operations/doctor/examine.ts';
import { answered } from './operations/doctor/finding.ts';
import { rightsFinding } from './operations/doctor/record-store.ts';
import { stoppableFinding } from './operations/doctor/stoppable.ts';
import { rateLimitFindings } from './operations/doctor/upkeep.ts';
import { systemClock } from './platform/clock.ts';
import { CardpollError } from './platform/errors.ts';
import type { Logger } from './platform/logger.ts';
import { ErrorReporter } from './platform/loop.ts';
import type { Teardown } from './platform/service.ts';
import { SsrfGuard } from './platform/ssrf-guard.ts';
import { VERSION } from './platform/version.ts';
import { openEmbeddedLiveStore } from './store/memory/live-store.ts';
import { openEmbeddedRecordStore } from './store/pglite/record-store.ts';
import type { LiveStore } from './store/ports/live/live-store.ts';
import type { Migrations, RecordStore } from './store/ports/records/record-store.ts';
import { openPostgresRecordStore } from './store/postgres/record-store.ts';
import { openRedisLiveStore } from './store/redis/live-store.ts';
import { APPLICATION_NAME } from './store/sql/sql-record-store.ts';

export async function openStores(config: DaemonConfig, log: Logger, teardown: Teardown): Promise<Stores> {
  const { stores } = config;
  const records =
    stores.kind === 'external'
      ? await openPostgresRecordStore({
          url: stores.databaseUrl,
          applicationName: APPLICATION_NAME,
          maxConnections: stores.databaseMaxConnections,
        })
      : await openEmbedded(stores.dataDir);
  teardown.add(() => records.close());
  const live =
    stores.kind === 'external' ? await openRedis(stores, log) : openEmbeddedLiveStore({ clock: systemClock });
  teardown.add(() => live.close());
  await requireRights(live);
  await requireRecordRights(records);
  return { live, records };
}

/** Without this check the daemon would be ready and poll nothing: a loop only logs that Redis refuses its commands. */
async function requireRights(live: LiveStore): Promise<void> {
  const { user, needed } = await live.missingRights();
  if (needed.length === 0) return;
  throw new CardpollError(
    'config',
    'redis_rights_missing',
    `the Redis user ${user} may not do what cardpoll does: it lacks ${needed.join(' ')}`,
    { hint: 'grant it what docs/security.md lists; cardpoll doctor prints the command' },
  );
}

/** The same for the database: a daemon that can neither read nor write is up and polls nothing. */
async function requireRecordRights(records: RecordStore): Promise<void> {
  const { role, always } = await records.lackedRights();
  const [first] = always;
  if (first === undefined) return;
  throw new CardpollError(
    'config',
    'postgres_rights_missing',
    `the PostgreSQL user ${role} may not do what cardpoll does: ${first.message}`,
    { hint: first.remedy },
  );
}

export function openRedis(stores: ExternalStoresConfig, log?: Logger): Promise<LiveStore> {
  const { redisUrl: url, redisTls: tls, redisSentinelPassword: sentinelPassword } = stores;
  return openRedisLiveStore({ url, tls, sentinelPassword, ...(log === undefined ? {} : { log }) });
}

export function openEmbedded(dataDir: string): Promise<RecordStore> {
  return openEmbeddedRecordStore({ dataDir, workerUrl: new URL('./pglite-worker.js', import.meta.url) });
}

/**
 * Migrations of a later version are no reason to exit: during an upgrade this version must keep polling, and restart. So a
 * migration must not break the reads and writes of the previous version.
 */
export async function migrate(migrations: Migrations, log: Logger): Promise<void> {
  const applied = await migrations.up((migration) =>
    log.info({ migration }, 'applying a database migration'),
  );
  if (applied.length > 0) log.info({ applied }, 'database migrations applied');
  const newer = (await migrations.status()).filter((state) => state.newer).map(({ id }) => id);
  if (newer.length > 0) log.warn({ newer, version: VERSION }, 'the database is of a later version');
}

/** Runs before anything reads or writes the data of another fleet in the live store. */
export async function watchFleet(
  { live: { coordination }, records }: Stores,
  log: Logger,
  teardown: Teardown,
  refuse: (error: CardpollError) => void,
): Promise<Fleet> {
  const fleet = await records.fleet();
  await requireOwnFleet(coordination, fleet);
  const onError = new ErrorReporter(log, systemClock).for('fleet-watch');
  const onForeign = (error: CardpollError) => {
    log.error(
      { reason: error.message, hint: error.hint },
      'Redis belongs to another fleet: this instance ends',
    );
    refuse(error);
  };
  const watch = new FleetWatch({ coordination, fleet, onForeign, clock: systemClock, onError });
  await watch.start();
  teardown.add(() => watch.stop());
  return fleet;
}

/**
 * Warns at the start of problems that the doctor also reports: rate limits that do not allow the configs, missing rights, no way
 * to stop a card.
 */
export async function warnAtStart(
  { gateway }: DaemonConfig,
  records: RecordStore,
  log: Logger,
): Promise<void> {
  const facts = gatewayFactsOf(gateway);
  const warn = async (check: string, read: () => Promise<Finding[]>, message: string) => {
    for (const { status, detail, command } of await answered(check, read)) {
      if (status === 'warning') log.warn({ reason: detail, command }, message);
      else if (status === 'unknown')
        log.warn({ check, reason: detail }, 'a check of the start could not be made');
    }
  };
  await warn(
    'rate limits',
    () => rateLimitFindings(records, facts),
    'the rate limits do not allow the polling configs',
  );
  await warn(
    'postgresql rights',
    async () => [rightsFinding(await records.lackedRights())],
    'the user of the database may not make monthly partitions',
  );
  await warn(
    'stops possible',
    async () => [await stoppableFinding(records, facts)],
    'no card over its package can be stopped',
  );
}

/** @param presence null: this process is not an instance. */
export function buildHealth(
  { gateway, polling: { initPauseMs }, stops }: DaemonConfig,
  stores: Stores,
  presence: Presence | null,
): FleetHealth {
  const { cardsPerCall } = gatewayFactsOf(gateway);
  return new FleetHealth({ ...stores, clock: systemClock, cardsPerCall, initPauseMs, stops, presence });
}

/** The dependencies of operations that come from the configuration. */
export function operationDeps(
  { timeZone, stops, gateway, webhooks, alerts, proxies }: DaemonConfig,
  records: Pick<RecordStore, 'fleet'>,
) {
  const guard = new SsrfGuard(webhooks.allowCidrs, proxies);
  const tester = new WebhookTester({
    guard,
    ...webhooks,
    timeZone,
    runbookUrl: alerts.runbookUrl,
    fleet: () => records.fleet(),
    clock: systemClock,
  });
  return {
    clock: systemClock,
    timeZone,
    version: VERSION,
    stops,
    ...gatewayFactsOf(gateway),
    maxConcurrency: gateway.maxConcurrency,
    guard,
    tester,
  };
}
