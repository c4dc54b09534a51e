// Daemons that lose PostgreSQL, one of them or all: another one leads, or none does and says so; what waited is done
// afterwards, and no ring is lost. Also a failover that leads to a read-only server.
import { afterEach, expect, it } from 'vitest';
import { BreakableLink } from '../support/breakable-link.ts';
import { type Daemon, Fleet } from '../support/fleet.ts';
import { freePort } from '../support/free-port.ts';
import { query, standbyOf, startPostgres } from '../support/postgres-server.ts';
import { runCli, waitFor } from '../support/processes.ts';

const CARDS = 1_000;

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A daemon that polls, with a link before its PostgreSQL, and the database's URL by that link. */
async function linkedFleet(options: Parameters<typeof Fleet.start>[0] = {}) {
  const fleet = await Fleet.start({ simulator: ['--latency-ms', '5'], ...options });
  closing.push(() => fleet.close());
  const link = await BreakableLink.to(Number(new URL(fleet.databaseUrl).port));
  closing.push(() => link.close());
  const linkedUrl = link.around(fleet.databaseUrl);
  const linked = await fleet.startDaemon({ CARDPOLL_DATABASE_URL: linkedUrl });
  await fleet.importCards(CARDS);
  await leads(linked);
  await scheduled(fleet);
  return { fleet, link, linkedUrl, linked };
}

async function isLeader({ url }: Daemon): Promise<boolean> {
  return /^cardpoll_leader\S* 1$/m.test(await (await fetch(`${url}/metrics`)).text());
}

const leads = (daemon: Daemon) => waitFor(() => isLeader(daemon), { everyMs: 100, what: 'a daemon to lead' });

async function scheduled(fleet: Fleet, count = CARDS): Promise<void> {
  await waitFor(
    async () => {
      const { items } = await fleet.get<{ items: Array<{ scheduled_cards: number }> }>(
        '/api/admin/polling-stats/queues',
      );
      return items.every((item) => item.scheduled_cards === count);
    },
    { everyMs: 100, what: `${count} cards to be scheduled` },
  );
}

/** What /readyz says; '' while it is ready. */
async function problemsOf({ url }: Daemon): Promise<string> {
  const response = await fetch(`${url}/readyz`);
  return response.ok ? '' : ((await response.json()) as { detail: string }).detail;
}

const unready = (daemon: Daemon, reason: RegExp) =>
  waitFor(async () => reason.test(await problemsOf(daemon)), {
    everyMs: 100,
    what: `readyz to say ${reason}`,
  });
const ready = (daemon: Daemon) =>
  waitFor(async () => (await problemsOf(daemon)) === '', { everyMs: 100, what: 'a daemon to be ready' });

interface Reason {
  readonly code: string;
  readonly severity: string;
  readonly text: string;
  readonly since: string | null;
}

async function outageIn({ url }: Daemon): Promise<Reason | undefined> {
  const response = await fetch(`${url}/api/admin/polling-stats`);
  const { health_reasons } = (await response.json()) as { health_reasons: Reason[] };
  return health_reasons.find(({ code }) => code === 'database_outage');
}

const healthSays = (daemon: Daemon, severity: string) =>
  waitFor(
    async () => {
      const found = await outageIn(daemon);
      return found?.severity === severity ? found : null;
    },
    { everyMs: 100, what: `health to say database_outage: ${severity}` },
  );

it.each(['cut', 'swallow'] as const)(
  'a leader that loses PostgreSQL (%s) hands over: triggers and new cards go on',
  async (breakDown) => {
    const { fleet, link, linked } = await linkedFleet();
    const other = await fleet.startDaemon();
    link[breakDown]();
    await leads(other);
    expect(await isLeader(linked)).toBe(false);
    await fleet.cli('trigger', 'by-condition', '--task', 'realname', '--carrier-id', '1', '--yes', '--wait');
    await fleet.importCards(2 * CARDS);
    await scheduled(fleet, 2 * CARDS);

    await unready(linked, /the database could not be used for \d+ s: PostgreSQL at 127.0.0.1:\d+ cannot be/);
    expect(await problemsOf(other)).toBe('');
    const { text, since } = await healthSays(other, 'warning');
    expect(text).toMatch(/^1 of 2 .* \(\S+\): PostgreSQL at 127.0.0.1:\d+ cannot/);
    expect(since).not.toBeNull();
    link.restore();
    await ready(linked);
    await waitFor(async () => (await outageIn(other)) === undefined, { what: 'health to be well' });
  },
);

it('no instance leads while none reaches PostgreSQL, health and doctor say why, and all goes on afterwards', async () => {
  const { fleet, link, linkedUrl, linked } = await linkedFleet();
  const other = await fleet.startDaemon({ CARDPOLL_DATABASE_URL: linkedUrl });
  await fleet.setIntervals(2);
  const rings = () => fleet.redis.keys('polling:ring:*');
  const before = (await rings()).sort();
  link.cut();
  for (const daemon of [linked, other]) await unready(daemon, /the database could not be used for 1\d s/);
  const { text } = await healthSays(other, 'alert');
  expect(text).toMatch(/\b2 of 2 .*: PostgreSQL at /);
  expect([await isLeader(linked), await isLeader(other)]).toEqual([false, false]);

  // The doctor reaches PostgreSQL by another way: cards that came meanwhile are in no ring, and no rebuild would help.
  await query(
    fleet.databaseUrl,
    `INSERT INTO cards (card_id, iccid) VALUES (999999, '89860000000000999999')`,
  );
  const env = {
    CARDPOLL_URL: other.url,
    CARDPOLL_REDIS_URL: fleet.redisServer.url,
    CARDPOLL_DATABASE_URL: fleet.databaseUrl,
    CARDPOLL_GATEWAY_URL: fleet.gatewayUrl,
  };
  const { stdout, code } = await runCli(['doctor', '-o', 'json'], { env });
  const { items } = JSON.parse(stdout) as {
    items: Array<{ check: string; status: string; command: string }>;
  };
  const found = (check: string) => items.find((item) => item.check === check);
  expect([code, found('database_outage')?.status]).toEqual([1, 'failed']);
  expect(found('scheduled cards')).toMatchObject({ status: 'failed', command: 'cardpoll stats instances' });

  expect((await rings()).sort()).toEqual(before);
  link.restore();
  for (const daemon of [linked, other]) await ready(daemon);
  await scheduled(fleet, CARDS + 1);
  const { requests } = await fleet.truth();
  await waitFor(async () => (await fleet.truth()).requests > requests + CARDS, { what: 'polls' });
});

it('an address that leads to a standby: readyz names it, and the promoted server is used without a restart', async () => {
  const primary = await startPostgres();
  closing.push(() => primary.stop());
  const { fleet, link, linked } = await linkedFleet({ postgres: primary });
  const standby = await standbyOf(primary, await freePort());
  closing.push(() => standby.stop());
  await ready(linked);
  link.leadTo(standby.port);
  await primary.kill();
  await standby.start();
  await unready(linked, /takes no writes: it is a standby, or set to read only/);
  expect((await healthSays(linked, 'alert')).text).toContain('takes no writes');
  const { stderr } = await runCli(['migrate', 'up'], {
    env: { CARDPOLL_DATABASE_URL: link.around(fleet.databaseUrl) },
  });
  expect(stderr).toContain('takes no writes: it is a standby, or set to read only');
  await query(standby.url, 'SELECT pg_promote()');
  await ready(linked);
  await leads(linked);
  await fleet.importCards(2 * CARDS);
  await scheduled(fleet, 2 * CARDS);
});

it('PostgreSQL answers but its disk is full: readyz and health say so, and all results are stored afterwards', async () => {
  const { fleet, linked } = await linkedFleet();
  await fleet.setIntervals(2);
  // Stands for a full disk: the error of one.
  await query(
    fleet.databaseUrl,
    `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
     CREATE TRIGGER full_disk BEFORE INSERT OR UPDATE ON card_polls EXECUTE FUNCTION full_disk()`,
  );
  await unready(
    linked,
    /results could not be stored for 1\d s: PostgreSQL at .* is out of resources: could not/,
  );
  const { text, since } = await healthSays(linked, 'alert');
  expect(text).toMatch(/\b1 of 1 .* results .*: .*extend/);
  expect(since).not.toBeNull();
  expect(await isLeader(linked)).toBe(true);
  await query(fleet.databaseUrl, 'DROP TRIGGER full_disk ON card_polls');
  await ready(linked);
  await waitFor(async () => (await outageIn(linked)) === undefined, { what: 'health to be well' });
});

it('a worker whose PostgreSQL swallows packets keeps no slots from the others', async () => {
  // Every poll reads its card from PostgreSQL.
  const env = { CARDPOLL_CARD_CACHE_TTL_SECONDS: '1' };
  const { fleet, link, linked } = await linkedFleet({ env });
  const other = await fleet.startDaemon();
  await fleet.setLimits(20);
  await fleet.setIntervals(2);
  const inFlight = async () => {
    const { workers } = await fleet.get<{ workers: Array<{ pid: number; in_flight: number }> }>(
      '/api/admin/polling-stats',
    );
    return workers.find(({ pid }) => pid === linked.process.pid)?.in_flight;
  };
  await waitFor(inFlight, { what: 'both to poll' });
  link.swallow();
  const held: boolean[] = [];
  const { requests } = await fleet.truth();
  await waitFor(
    async () => {
      held.push(Number(await inFlight()) > 0);
      return (await fleet.truth()).requests > requests + 5 * CARDS && (await problemsOf(linked)) !== '';
    },
    { everyMs: 250, what: 'polls by the other one, and readyz to tell' },
  );
  // It tries again at times, for a second each.
  expect(held.filter((isHeld) => isHeld).length / held.length).toBeLessThan(0.5);
  expect(await problemsOf(linked)).toMatch(/^the database could not be used for \d+ s: PostgreSQL at /);
  expect(await problemsOf(other)).toBe('');
});
