// Orders of the records become due work, only on the leader, and held stops are looked at in steps, from the first to the
// last, and then again. The live store is the embedded one.
import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import { OrderFeeder } from '../../../../src/engine/stops/order-feeder.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let live: LiveStore;
let fence: number | null;
let asked: number;
let monthStarts: number;
let clock: FakeClock;
/** After which card ids it asked for held stops. */
let lookedAfter: number[];
let held: Array<{ lastCardId: number | null; dropped: number }>;
let lines: Array<Record<string, unknown>>;
let feeder: OrderFeeder;

const card = (cardId: number) => ({ cardId, carrierId: 1, realNameVerified: true });

beforeEach(() => {
  clock = new FakeClock();
  live = openEmbeddedLiveStore({ clock });
  [fence, asked, monthStarts, lookedAfter, held, lines] = [1, 0, 0, [], [], []];
  const due = (cardIds: readonly number[]) => async () => {
    asked += 1;
    return cardIds.map(card);
  };
  feeder = new OrderFeeder({
    live,
    records: {
      stops: {
        due: due([1, 2]),
        dropUnwanted: async (after) => {
          lookedAfter.push(after);
          return held.shift() ?? { lastCardId: null, dropped: 0 };
        },
      },
      resumes: { due: due([2, 3]) },
    },
    monthStart: {
      run: async () => {
        monthStarts += 1;
      },
    },
    queueCap: 10,
    fence: () => fence,
    clock,
    log: pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
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
  expect([lookedAfter, monthStarts]).toEqual([[0], 1]);
});

it('does nothing while another instance leads', async () => {
  fence = null;
  await feeder.runOnce();
  expect([asked, lookedAfter, monthStarts]).toEqual([0, [], 0]);
});

it('looks at all held stops every ten seconds, and logs once how many it dropped', async () => {
  held = [
    { lastCardId: 40, dropped: 2 },
    { lastCardId: 90, dropped: 1 },
  ];
  for (let call = 0; call < 5; call += 1) await feeder.runOnce();
  expect(lookedAfter).toEqual([0, 40, 90]);
  expect(lines).toMatchObject([{ level: 30, stops: 3 }]);
  clock.advance(9_999);
  await feeder.runOnce();
  expect(lookedAfter).toHaveLength(3);
  clock.advance(1);
  await feeder.runOnce();
  expect(lookedAfter).toEqual([0, 40, 90, 0]);
  expect(lines).toHaveLength(1);
});
