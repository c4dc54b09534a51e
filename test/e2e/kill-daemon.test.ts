// kill -9 of the only daemon in mid-poll: no card lost, the running count true again by itself, every card
// over its package stopped exactly once.
import { afterAll, describe, expect, it } from 'vitest';
import { TASK_TYPES, TASKS } from '../../src/domain/task-type.ts';
import { demoIccid } from '../../src/gateway/simulate/simulated-fleet.ts';
import { sampled } from '../support/effort.ts';
import { Fleet } from '../support/fleet.ts';
import { waitFor } from '../support/processes.ts';

const CARDS = 200;
const LEASE_MS = 3_000;
const INTERVAL_SECONDS = 3;
const KILLS = sampled(1, 2);
const MESSAGES: ReadonlySet<string> = new Set(TASK_TYPES.map((type) => TASKS[type].completed));

let fleet: Fleet | null = null;
afterAll(() => fleet?.close());

describe('kill -9 in mid-poll', () => {
  it('loses no card, no slot and stops no card twice', async () => {
    fleet = await Fleet.start({
      simulator: ['--latency-ms', '50'],
      env: { CARDPOLL_LEASE_MS: String(LEASE_MS), CARDPOLL_GATEWAY_TIMEOUT_MS: '1000' },
    });
    const { redis } = fleet;
    await fleet.startDaemon();
    await fleet.setLimits(50);
    await fleet.setIntervals(INTERVAL_SECONDS);
    // Every tenth card has no allowance at all: whatever it used is too much.
    await fleet.importCards(CARDS, (cardId) => (cardId % 10 === 0 ? 0 : ''));

    for (let kill = 0; kill < KILLS; kill += 1) {
      const daemon = fleet.daemons.at(-1);
      await waitFor(async () => Number(await redis.get('polling:concurrency:current:package')) > 5, {
        what: 'calls in flight',
      });
      await daemon?.process.stop('SIGKILL');
      for (const type of TASK_TYPES) {
        await waitFor(
          async () => Number((await redis.get(`polling:concurrency:current:${type}`)) ?? 0) === 0,
          {
            what: `the running count of ${type} to be true again, with no daemon left`,
          },
        );
      }
      await fleet.startDaemon();
    }

    await allCardsPolledSince(fleet, Date.now());
    const over = Array.from({ length: CARDS / 10 }, (_, i) => demoIccid((i + 1) * 10));
    // A card whose first reading is 0 is not over its package yet, so not all of them need to be stopped.
    const { stops } = await waitFor(
      async () => {
        const truth = await fleet?.truth();
        return truth !== undefined && Object.keys(truth.stops).length >= over.length * 0.9 ? truth : null;
      },
      { what: 'the cards over their package to be stopped' },
    );
    expect(Object.entries(stops).filter(([, count]) => count !== 1)).toEqual([]);
    expect(Object.keys(stops).filter((iccid) => !over.includes(iccid))).toEqual([]);
    const { items } = await fleet.get<{ items: Array<{ scheduled_cards: number }> }>(
      '/api/admin/polling-stats/queues',
    );
    expect(items.map((item) => item.scheduled_cards)).toEqual([CARDS, CARDS, CARDS]);
  });
});

/** Waits until every card was polled for every type after `since`, as the worker logs say. */
async function allCardsPolledSince(fleet: Fleet, since: number): Promise<void> {
  await waitFor(
    async () => {
      const polled = new Set<string>();
      for await (const { time, msg, card_id: cardId } of fleet.logLines())
        if (Date.parse(String(time)) > since && MESSAGES.has(String(msg))) polled.add(`${msg} ${cardId}`);
      return polled.size === TASK_TYPES.length * CARDS;
    },
    { everyMs: 500, what: 'every card to be polled again' },
  );
}
