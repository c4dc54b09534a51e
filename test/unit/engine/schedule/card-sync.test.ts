// Changed and removed cards in rings, cache and queue. The stores are the embedded ones; pages of changes are made up.
import { beforeEach, expect, it } from 'vitest';
import type { Card, CardMembership } from '../../../../src/domain/cards/card.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { CardSync } from '../../../../src/engine/schedule/card-sync.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { claim, queueCards, REALNAME, settle } from '../../../contract/live-store/stores.ts';

interface Page {
  readonly changed: readonly CardMembership[];
  readonly removed: readonly number[];
  readonly mark: string;
}

const NOTHING = { changed: [], removed: [] };
const config = (id: number, carrierId: number): PollingConfig => ({
  ...{ id, name: `config ${id}`, taskType: REALNAME, cardCondition: 'any', carrierId },
  ...{ intervalSeconds: 60, priority: 0, status: 1 },
});
const CONFIGS = [config(1, 10), config(2, 20)];
const RINGS = CONFIGS.map(({ id }) => ({ configId: id, taskType: REALNAME }));
const card = (cardId: number, carrierId: number): CardMembership => ({
  cardId,
  carrierId,
  realNameVerified: false,
});

let live: LiveStore;
/** Asked for one by one; the last one again and again. */
let pages: Page[];
let asked: string[];
let requireLead: () => void;
/** Asked about: which of them are to be stopped? */
let judged: number[];

beforeEach(async () => {
  live = openEmbeddedLiveStore({ clock: systemClock });
  [asked, judged, requireLead] = [[], [], () => {}];
  for (const ring of RINGS) {
    await live.rings.configure(ring, { intervalMs: 60_000, enabled: true });
    await live.rings.startGeneration(ring, 64, { activate: true });
  }
});

async function follow(...found: Page[]) {
  pages = found;
  const changesSince = async (mark: string) => {
    asked.push(mark);
    return pages.length > 1 ? pages.shift() : pages[0];
  };
  const sync = new CardSync({
    live,
    gateway: { offers: () => true },
    records: {
      cards: { changesSince } as unknown as RecordStore['cards'],
      stops: {
        wanted: async (cardIds: readonly number[]) => {
          judged.push(...cardIds);
          return [];
        },
      } as unknown as RecordStore['stops'],
    },
    queueCap: 1e6,
    configs: () => CONFIGS,
    matcher: () => new ConfigMatcher(CONFIGS),
    requireLead: () => requireLead(),
  });
  return sync.follow('a', await live.rings.list());
}

const members = async () => (await live.rings.list()).map((ring) => ring.members);

it('puts a changed card into the ring that polls it, and takes it out of others', async () => {
  await live.rings.add({ configId: 1, taskType: REALNAME }, [7, 8]);
  const found = await follow(
    { ...NOTHING, changed: [card(7, 20), card(9, 10)], mark: 'b' },
    { ...NOTHING, mark: 'c' },
  );
  expect(found).toEqual({ mark: 'c', caughtUp: true });
  expect(asked).toEqual(['a', 'b']);
  expect(await members()).toEqual([2, 1]);
  expect(await live.rings.remove({ configId: 1, taskType: REALNAME }, [8, 9])).toBe(2);
  expect(await live.rings.remove({ configId: 2, taskType: REALNAME }, [7])).toBe(1);
});

it('takes removed cards out of every ring, and forgets their failures', async () => {
  await queueCards(live, [1, 2]);
  await settle(live, (await claim(live, 2)).items, 'failed', { baseMs: 60_000, capMs: 1e9 });
  expect(await live.work.counts(REALNAME)).toMatchObject({ backoff: 2 });
  await live.rings.add({ configId: 1, taskType: REALNAME }, [2, 3]);
  await follow({ ...NOTHING, removed: [2], mark: 'b' }, { ...NOTHING, mark: 'c' });
  expect(await live.work.counts(REALNAME)).toMatchObject({ backoff: 1 });
  expect(await members()).toEqual([1, 0]);
});

it('drops changed and removed cards from the cache', async () => {
  const cards = [1, 2, 3].map((cardId) => ({ ...card(cardId, 10), iccid: String(cardId) }) as Card);
  await live.cards.put(cards, 60_000);
  await follow({ changed: [card(1, 10)], removed: [2], mark: 'b' }, { ...NOTHING, mark: 'c' });
  expect([...(await live.cards.get([1, 2, 3])).keys()]).toEqual([3]);
});

it('checks whether changed cards are over their package after dropping them from the cache', async () => {
  await follow({ changed: [card(1, 10), card(3, 10)], removed: [2], mark: 'b' }, { ...NOTHING, mark: 'c' });
  expect(judged).toEqual([1, 3]);
});

it('leaves the rest of very many changes to the next pass', async () => {
  const found = await follow({ ...NOTHING, removed: [1], mark: 'z' });
  expect(found).toEqual({ mark: 'z', caughtUp: false });
  expect(asked).toHaveLength(10);
});

it('changes nothing once another instance leads', async () => {
  requireLead = () => {
    throw new Error('another leads');
  };
  await expect(follow({ ...NOTHING, changed: [card(7, 10)], mark: 'b' })).rejects.toThrow('another leads');
  expect(await members()).toEqual([0, 0]);
});
