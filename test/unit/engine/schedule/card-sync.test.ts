// Cards that are loaded into rings, and changed and removed scheduled cards, cache and queue. The live store is that of this
// process; the cards are a table in memory, or made-up pages of changes.

import { beforeEach, describe, expect, it } from 'vitest';
import type { Card, CardMembership } from '../../../../src/domain/cards/card.ts';
import { ConfigMatcher, type PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { CardSync, groupByRing } from '../../../../src/engine/schedule/card-sync.ts';
import { ringOf } from '../../../../src/engine/schedule/scheduler.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { type RingState, ringKey } from '../../../../src/store/ports/live/rings.ts';
import type { RecordStore } from '../../../../src/store/ports/records/record-store.ts';
import { claim, queueCards, REALNAME, settle } from '../../../contract/live-store/stores.ts';
import { CardTable, configOf, idsBetween, viewOf } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { Lead } from '../../../support/lead.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

interface Page {
  readonly changed: readonly CardMembership[];
  readonly removed: readonly number[];
  readonly mark: string;
  readonly caughtUp?: boolean;
}

const NOTHING = { changed: [], removed: [] };
const CAUGHT_UP = { ...NOTHING, mark: 'c', caughtUp: true };
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
  live = openLimitedLiveStore({ clock: systemClock });
  [asked, judged, requireLead] = [[], [], () => {}];
  for (const ring of RINGS) {
    await live.rings.configure(ring, { intervalMs: 60_000, enabled: true });
    await live.rings.startGeneration(ring, 64);
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
    judgeChanged: async (cardIds) => void judged.push(...cardIds),
    records: { cards: { changesSince } as unknown as RecordStore['cards'] },
    queueCap: 1e6,
    matcher: () => new ConfigMatcher(CONFIGS),
    requireLead: () => requireLead(),
  });
  return sync.follow('a', await live.rings.list());
}

const members = async () => (await live.rings.list()).map((ring) => ring.members);

it('puts a changed card into the ring that polls it, and takes it out of others', async () => {
  await live.rings.add({ configId: 1, taskType: REALNAME }, [7, 8]);
  const found = await follow({ ...NOTHING, changed: [card(7, 20), card(9, 10)], mark: 'b' }, CAUGHT_UP);
  expect(found).toEqual({ mark: 'c', caughtUp: true });
  expect(asked).toEqual(['a', 'b']);
  expect(await members()).toEqual([2, 1]);
  expect(await live.rings.contains({ configId: 1, taskType: REALNAME }, [8, 9])).toEqual([true, true]);
  expect(await live.rings.contains({ configId: 2, taskType: REALNAME }, [7])).toEqual([true]);
});

it('asks no more when it has caught up, although there were changes', async () => {
  expect(await follow({ ...CAUGHT_UP, removed: [1] })).toEqual({ mark: 'c', caughtUp: true });
  expect(asked).toEqual(['a']);
});

it('takes removed cards out of every ring, and forgets their failures', async () => {
  await queueCards(live, [1, 2]);
  await settle(live, (await claim(live, 2)).items, 'failed', { baseMs: 60_000, capMs: 1e9 });
  expect(await live.work.counts(REALNAME)).toMatchObject({ backoff: 2 });
  await live.rings.add({ configId: 1, taskType: REALNAME }, [2, 3]);
  await follow({ ...NOTHING, removed: [2], mark: 'b' }, CAUGHT_UP);
  expect(await live.work.counts(REALNAME)).toMatchObject({ backoff: 1 });
  expect(await members()).toEqual([1, 0]);
});

it('drops changed and removed cards from the cache', async () => {
  const cards = [1, 2, 3].map((cardId) => ({ ...card(cardId, 10), iccid: String(cardId) }) as Card);
  await live.cards.put(cards, 60_000);
  await follow({ changed: [card(1, 10)], removed: [2], mark: 'b' }, CAUGHT_UP);
  expect([...(await live.cards.get([1, 2, 3])).keys()]).toEqual([3]);
});

it('checks whether changed cards are over their package after dropping them from the cache', async () => {
  await follow({ changed: [card(1, 10), card(3, 10)], removed: [2], mark: 'b' }, CAUGHT_UP);
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

describe('loading', () => {
  const ALL = configOf(1);
  const USAGE = configOf(2, { taskType: 'carddata' });
  const VIEW = viewOf([ALL, USAGE]);

  let live: LiveStore;
  let table: CardTable;
  let lead: Lead;
  let loader: Pick<CardSync, 'load'>;

  beforeEach(async () => {
    live = openLimitedLiveStore({ clock: new FakeClock() });
    table = new CardTable();
    lead = new Lead();
    loader = new CardSync({
      live,
      records: { cards: table.port },
      judgeChanged: async () => {},
      queueCap: 0,
      matcher: () => VIEW,
      requireLead: lead.require,
    });
    for (const config of VIEW.configs) {
      await live.rings.configure(ringOf(config), { intervalMs: 60_000, enabled: true });
      await live.rings.startGeneration(ringOf(config), 1_024);
    }
  });

  async function ringsOf(...configs: readonly PollingConfig[]): Promise<RingState[]> {
    const wanted = configs.map((config) => ringKey(ringOf(config)));
    return (await live.rings.list()).filter((ring) => wanted.includes(ringKey(ring)));
  }

  async function members(): Promise<Record<number, number>> {
    return Object.fromEntries((await live.rings.list()).map((ring) => [ring.configId, ring.members]));
  }

  it('loads the next cards after the last one into all their rings, and returns its progress', async () => {
    table.put([1, 3, 5, 7]);
    const rings = await ringsOf(ALL, USAGE);
    expect(await loader.load(1, 2, rings, VIEW)).toEqual({ count: 2, lastCardId: 5 });
    expect(await live.rings.contains(ringOf(ALL), [1, 3, 5, 7])).toEqual([false, true, true, false]);
    expect(await members()).toEqual({ 1: 2, 2: 2 });
    expect(await loader.load(5, 2, rings, VIEW)).toEqual({ count: 1, lastCardId: 7 });
    expect(await loader.load(7, 2, rings, VIEW), 'none is left').toEqual({ count: 0, lastCardId: 7 });
    expect(await members()).toEqual({ 1: 3, 2: 3 });
    expect(table.reads).toEqual([2, 2, 2]);
  });

  it('leaves rings alone that are not being loaded', async () => {
    table.put([1, 2]);
    expect(await loader.load(0, 10, await ringsOf(USAGE), VIEW)).toEqual({ count: 2, lastCardId: 2 });
    expect(await members()).toEqual({ 1: 0, 2: 2 });
  });

  it('reads page by page, until a page is not full', async () => {
    table.put(idsBetween(1, 50_001));
    const rings = await ringsOf(ALL);
    expect(await loader.load(0, 50_000, rings, VIEW)).toEqual({ count: 50_000, lastCardId: 50_000 });
    expect(table.reads.splice(0)).toEqual([20_000, 20_000, 10_000]);
    expect(await members()).toEqual({ 1: 50_000, 2: 0 });
    expect(await loader.load(20_000, 100_000, rings, VIEW)).toEqual({ count: 30_001, lastCardId: 50_001 });
    expect(table.reads).toEqual([20_000, 20_000]);
    expect(await members()).toEqual({ 1: 50_001, 2: 0 });
  });

  it('adds to no further ring once another instance leads', async () => {
    table.put([1, 2]);
    lead.looksLeft = 1;
    await expect(loader.load(0, 10, await ringsOf(ALL, USAGE), VIEW)).rejects.toThrow('lead lost');
    expect(await members()).toEqual({ 1: 2, 2: 0 });
  });

  describe('groupByRing', () => {
    const card = (cardId: number, carrierId: number) => ({ cardId, carrierId, realNameVerified: false });

    it('gives each card to one config of every task type that polls it', () => {
      const all = configOf(1);
      const own = configOf(2, { carrierId: 7, priority: 1 });
      const usage = configOf(3, { taskType: 'carddata' });
      const groups = groupByRing([card(1, 7), card(2, 0), card(3, 7)], viewOf([all, own, usage]));
      expect([...groups]).toEqual([
        [all, [2]],
        [own, [1, 3]],
        [usage, [1, 2, 3]],
      ]);
    });

    it('names a config without cards too, and leaves out cards that no config polls', () => {
      const own = configOf(2, { carrierId: 7 });
      expect([...groupByRing([card(1, 0)], viewOf([own]))]).toEqual([[own, []]]);
    });
  });
});
