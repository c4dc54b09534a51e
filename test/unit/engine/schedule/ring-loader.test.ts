// Loading cards into rings, on the live store of this process and a table of cards in memory.
import { beforeEach, describe, expect, it } from 'vitest';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { groupByRing, RingLoader } from '../../../../src/engine/schedule/ring-loader.ts';
import { ringKey, ringOf } from '../../../../src/engine/schedule/scheduler.ts';
import { openEmbeddedLiveStore } from '../../../../src/store/memory/live-store.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import type { RingState } from '../../../../src/store/ports/live/rings.ts';
import { CardTable, configOf, idsBetween, viewOf } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { Lead } from '../../../support/lead.ts';

const ALL = configOf(1);
const USAGE = configOf(2, { taskType: 'carddata' });
const VIEW = viewOf([ALL, USAGE]);

let live: LiveStore;
let table: CardTable;
let lead: Lead;
let loader: RingLoader;

beforeEach(async () => {
  live = openEmbeddedLiveStore({ clock: new FakeClock() });
  table = new CardTable();
  lead = new Lead();
  loader = new RingLoader({
    live,
    records: { cards: table.port },
    requireLead: lead.require,
  });
  for (const config of VIEW.configs) {
    await live.rings.configure(ringOf(config), { intervalMs: 60_000, enabled: true });
    await live.rings.startGeneration(ringOf(config), 1_024, { activate: true });
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

  it('leaves out cards of a config that is not asked for', () => {
    const all = configOf(1);
    const usage = configOf(3, { taskType: 'carddata' });
    const view = { configs: [usage], matcher: viewOf([all, usage]).matcher };
    expect([...groupByRing([card(1, 0)], view)]).toEqual([[usage, [1]]]);
  });
});
