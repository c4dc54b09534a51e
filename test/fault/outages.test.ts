// Stores and gateway that go away while the daemon polls: it never ends, nothing is lost, and work goes on when
// they return, without anybody's help.
import { afterEach, describe, expect, it } from 'vitest';
import { Fleet } from '../support/fleet.ts';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 1_000;
const INTERVAL_SECONDS = 2;

const fleets: Fleet[] = [];
const servers: PostgresServer[] = [];
afterEach(async () => {
  for (const fleet of fleets.splice(0)) fleet.close();
  for (const server of servers.splice(0)) await server.stop();
});

async function pollingFleet(options: Parameters<typeof Fleet.start>[0] = {}): Promise<Fleet> {
  const fleet = await Fleet.start({ simulator: ['--latency-ms', '5'], ...options });
  fleets.push(fleet);
  await fleet.startDaemon();
  await fleet.setIntervals(INTERVAL_SECONDS);
  await fleet.importCards(CARDS);
  await polls(fleet, CARDS);
  return fleet;
}

/** Waits for `count` further calls at the gateway. */
async function polls(fleet: Fleet, count: number): Promise<void> {
  const { requests } = await fleet.truth();
  await waitFor(async () => (await fleet.truth()).requests >= requests + count, {
    what: `${count} further polls`,
  });
}

async function allScheduled(fleet: Fleet): Promise<void> {
  await waitFor(
    async () => {
      const { items } = await fleet.get<{ items: Array<{ scheduled_cards: number }> }>(
        '/api/admin/polling-stats/queues',
      );
      return items.every((item) => item.scheduled_cards === CARDS);
    },
    { what: 'all cards to be scheduled' },
  );
}

function isAlive(fleet: Fleet): void {
  for (const { process } of fleet.daemons) expect(process.running, process.stderr).toBe(true);
}

describe('Redis', () => {
  it.each([
    ['with its data', ['--appendonly', 'yes']],
    ['empty', []],
  ])('comes back %s', async (_, args) => {
    const fleet = await pollingFleet({ redis: args });
    await fleet.redisServer.kill();
    await waitFor(
      async () => (await fetch(`${fleet.daemons[0]?.url}/api/admin/polling-stats`)).status === 503,
      {
        what: 'the API to say that Redis is gone',
      },
    );
    for (const part of ['worker', 'scheduler', 'heartbeat']) await fails(fleet, part);
    isAlive(fleet);
    await fleet.redisServer.start();
    await polls(fleet, 50);
    await allScheduled(fleet);
    await polls(fleet, CARDS);
    isAlive(fleet);
  });

  it('hangs and answers again', async () => {
    const fleet = await pollingFleet();
    fleet.redisServer.pause();
    for (const part of ['worker', 'scheduler', 'heartbeat']) await fails(fleet, part);
    isAlive(fleet);
    fleet.redisServer.resume();
    await polls(fleet, 50);
    await allScheduled(fleet);
  });
});

describe('PostgreSQL', () => {
  it('is killed and comes back', async () => {
    const postgres = await startPostgres();
    servers.push(postgres);
    const fleet = await pollingFleet({ postgres });
    await postgres.kill('SIGQUIT');
    // What was polled waits to be written, and nobody else gets any further either.
    for (const part of ['result-writer write', 'config-watch']) await fails(fleet, part);
    isAlive(fleet);
    await postgres.start();
    await polls(fleet, 50);
    await polls(fleet, CARDS);
    await allScheduled(fleet);
    isAlive(fleet);
  });
});

describe('the gateway', () => {
  it('hangs and answers again: the breaker holds calls back, no card is forgotten', async () => {
    const fleet = await pollingFleet({ env: { CARDPOLL_GATEWAY_TIMEOUT_MS: '1000' } });
    fleet.simulator?.signal('SIGSTOP');
    await fleet.told('gateway breaker', { state: 'open' });
    isAlive(fleet);
    fleet.simulator?.signal('SIGCONT');
    await fleet.told('gateway breaker', { state: 'half_open' });
    await polls(fleet, 3 * CARDS);
    await allScheduled(fleet);
  });

  it('fails three of ten calls: the cards are polled all the same', async () => {
    const fleet = await pollingFleet({ simulator: ['--failure-rate', '0.3'] });
    await waitFor(
      async () => {
        for (const cardId of [1, 250, 500, 750, CARDS]) {
          const card = await fleet.get<{ last_polled_at: Record<string, string | null> }>(
            `/api/admin/cards/${cardId}`,
          );
          if (Object.values(card.last_polled_at).some((at) => at === null)) return false;
        }
        return true;
      },
      { what: 'cards to be polled in spite of failures' },
    );
    const { items } = await fleet.get<{ items: Array<{ failed: number; success_rate: number }> }>(
      '/api/admin/polling-stats/tasks',
    );
    for (const { failed, success_rate } of items) {
      expect(failed).toBeGreaterThan(0);
      expect(success_rate).toBeGreaterThan(50);
      expect(success_rate).toBeLessThan(90);
    }
  });
});

/** Waits until a part of the engine has run into the outage and told. */
async function fails(fleet: Fleet, part: string): Promise<void> {
  const failed = () => fleet.logged('part of the engine failed');
  await waitFor(async () => (await failed()).some((line) => String(line.part).startsWith(part)), {
    what: `${part} to fail`,
  });
}
