// PostgreSQL freezes, or is gone, while cards wait in the queues: the gateway gets one call for each of them, and none while their
// results wait for the database, however many leases long, with one instance and with two. The gateway counts.
import { afterEach, expect, it } from 'vitest';
import { TASK_TYPES } from '../../src/domain/task-type.ts';
import { Fleet } from '../support/fleet.ts';
import { HEALTHY } from '../support/healthy-answers.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { waitFor } from '../support/processes.ts';
import { startScriptedGateway } from '../support/scripted-gateway.ts';

const CARDS = 120;
const LEASE_MS = 6_000;

const ends: Array<() => unknown> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

it.each([
  [1, 'pause'],
  [2, 'pause'],
  [2, 'kill'],
] as const)(
  'no card is called again whose result waits: %i instances, database: %s',
  async (instances, how) => {
    const gateway = await startScriptedGateway(({ interfaceName }) => ({
      body: HEALTHY[interfaceName],
      delayMs: 100,
    }));
    ends.push(() => gateway.close());
    const postgres = await startPostgres();
    ends.push(() => {
      postgres.resume();
      return postgres.stop();
    });
    const fleet = await Fleet.start({
      gatewayUrl: gateway.url,
      postgres,
      env: { CARDPOLL_LEASE_MS: String(LEASE_MS), CARDPOLL_GATEWAY_TIMEOUT_MS: '1000' },
    });
    ends.push(() => fleet.close());
    for (let i = 0; i < instances; i += 1) await fleet.startDaemon();
    // Two calls of a tenth of a second at a time: 20 polls a second of each type, where 120 are due in two.
    await fleet.setLimits(2);
    await fleet.importCards(CARDS);
    await fleet.setIntervals(2);
    // All cards are in the cache by then: they are called without the database.
    await waitFor(
      async () => {
        const calls = [...gateway.callsOf.values()];
        if (calls.length < TASK_TYPES.length * CARDS || Math.min(...calls) < 3) return false;
        const lengths = await Promise.all(
          TASK_TYPES.map((type) => fleet.redis.zcard(`polling:queue:${type}`)),
        );
        return lengths.every((length) => length > CARDS / 2);
      },
      { what: 'cards to wait in the queues', timeoutMs: 120_000 },
    );
    if (how === 'pause') postgres.pause();
    else await postgres.kill();
    // From here on no result can be written.
    gateway.forget();
    const frozenAt = performance.now();
    const leasesToPass = (leases: number) =>
      waitFor(() => performance.now() - frozenAt > leases * LEASE_MS, { timeoutMs: 2 * leases * LEASE_MS });
    await leasesToPass(4);
    expect(Math.max(0, ...gateway.callsOf.values()), 'most calls of one card and type').toBeLessThanOrEqual(
      1,
    );
    expect(gateway.callsOf.size).toBeGreaterThan(0);

    if (how === 'pause') postgres.resume();
    else await postgres.restart();
    gateway.forget();
    await waitFor(() => gateway.callsOf.size > CARDS, { what: 'polling to go on', timeoutMs: 60_000 });
    expect(await fleet.logged('late results dropped: their lease was over')).toEqual([]);
  },
  300_000,
);
