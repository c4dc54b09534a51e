// Orders of the records become due work, only on the leader. The live store is the embedded one.
import { beforeEach, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { OrderFeeder } from '../../../../src/engine/stops/order-feeder.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let live: LiveStore;
let fence: number | null;
let asked: number;
/** What else it ran. */
let ran: string[];
let feeder: OrderFeeder;

const card = (cardId: number) => ({ cardId, carrierId: 1, realNameVerified: true });

beforeEach(() => {
  const clock = new FakeClock();
  live = openEmbeddedLiveStore({ clock });
  [fence, asked, ran] = [1, 0, []];
  const due = (cardIds: readonly number[]) => async () => {
    asked += 1;
    return cardIds.map(card);
  };
  feeder = new OrderFeeder({
    live,
    records: { stops: { due: due([1, 2]) }, resumes: { due: due([2, 3]) } },
    unwanted: { run: async () => void ran.push('unwanted stops') },
    monthStart: { run: async () => void ran.push('month start') },
    queueCap: 10,
    fence: () => fence,
    clock,
    onError: (error) => expect.unreachable(String(error)),
  });
});

it('makes cards with an order due for task package, and has them read from the records', async () => {
  await live.cards.put(
    [1, 2, 3, 4].map((cardId) => ({ ...card(cardId), iccid: String(cardId) }) as Card),
    60_000,
  );
  expect(await feeder.runOnce()).toBe(1_000);
  expect((await live.work.counts('package')).due).toBe(3);
  expect([...(await live.cards.get([1, 2, 3, 4])).keys()]).toEqual([4]);
  expect(ran).toEqual(['unwanted stops', 'month start']);
});

it('does nothing while another instance leads', async () => {
  fence = null;
  await feeder.runOnce();
  expect([asked, ran]).toEqual([0, []]);
});
