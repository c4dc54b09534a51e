// A fleet of which every card is over its package, and whose budget allows a few stops: daemons that are killed and cut
// off from their database, and a gateway that refuses and loses some stops. Used by test/e2e/stop-budget.test.ts and
// test/long/stop-budget.test.ts.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import { BreakableLink } from './breakable-link.ts';
import { type Daemon, Fleet } from './fleet.ts';
import { seededRandom } from './gzip-damage.ts';
import { HEALTHY } from './healthy-answers.ts';
import { waitFor } from './processes.ts';
import { type Script, startScriptedGateway } from './scripted-gateway.ts';

const CARDS = 150;
const BUDGET = 25;
const TROUBLES = 5;

const ENV = {
  CARDPOLL_STOPS_MAX_PER_HOUR: String(BUDGET),
  CARDPOLL_LEASE_MS: '3000',
  CARDPOLL_GATEWAY_TIMEOUT_MS: '500',
  CARDPOLL_RETRY_BASE_MS: '100',
};

/** One fleet from its first poll until the budget is used up. Fails when the gateway carried out one stop more. */
export async function expectBudgetKept(seed: number, daemons = 3): Promise<void> {
  const random = seededRandom(seed);
  const stopped = new Set<string>();
  /** Every stop that changed something. */
  const effective: string[] = [];
  const script: Script = ({ interfaceName, iccid }) => {
    if (interfaceName === 'flow') return { body: { used: 100 } };
    if (interfaceName === 'card_status')
      return { body: { cardStatus: stopped.has(iccid) ? 'stopped' : 'active' } };
    if (interfaceName !== 'stop') return { body: HEALTHY[interfaceName] };
    const fate = random();
    if (fate < 0.1) return { status: 503, body: '{"code":503,"msg":"busy"}' };
    if (!stopped.has(iccid)) effective.push(iccid);
    stopped.add(iccid);
    // The answer is lost: it comes after the timeout.
    return fate < 0.2 ? { body: null, delayMs: 1_000 } : { body: null, delayMs: 40 * random() };
  };
  const gateway = await startScriptedGateway(script);
  const fleet = await Fleet.start({ gatewayUrl: gateway.url, env: ENV });
  const databasePort = Number(new URL(fleet.databaseUrl).port);
  const links: BreakableLink[] = [];
  const start = async (): Promise<{ daemon: Daemon; link: BreakableLink }> => {
    const link = await BreakableLink.to(databasePort);
    links.push(link);
    const daemon = await fleet.startDaemon({ CARDPOLL_DATABASE_URL: link.around(fleet.databaseUrl) });
    return { daemon, link };
  };
  const database = new pg.Client({ connectionString: fleet.databaseUrl });
  try {
    await database.connect();
    const running = [await start()];
    await fleet.setIntervals(1);
    await fleet.importCards(CARDS, () => 10);
    while (running.length < daemons) running.push(await start());
    for (let trouble = 0; trouble < TROUBLES; trouble += 1) {
      await sleep(1_000 * random());
      const victim = running.splice(Math.floor(random() * running.length), 1)[0];
      if (victim === undefined) break;
      if (random() < 0.6) {
        victim.daemon.process.signal('SIGKILL');
        running.push(await start());
      } else {
        victim.link.cut();
        await sleep(500 * random());
        victim.link.restore();
        running.push(victim);
      }
      expect(effective.length, `seed ${seed}`).toBeLessThanOrEqual(BUDGET);
    }
    const states = async () => {
      const { rows } = await database.query(
        'SELECT state, count(*)::int AS n FROM card_stops GROUP BY state',
      );
      return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    };
    await waitFor(
      async () => {
        const { done = 0, held = 0 } = await states();
        return done === BUDGET && done + held === CARDS;
      },
      { everyMs: 200, what: `seed ${seed}: the budget to be used up and all other stops to be held` },
    );
    expect(new Set(effective).size, 'each card once').toBe(effective.length);
    expect(effective, `seed ${seed}`).toHaveLength(BUDGET);
  } finally {
    await database.end();
    fleet.close();
    await Promise.all(links.map((link) => link.close()));
    await gateway.close();
  }
}
