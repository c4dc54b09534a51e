// Rings against cards, on the live store of this process and a table of cards in memory.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { RingRepair } from '../../../../src/engine/schedule/ring-repair.ts';
import { ringOf } from '../../../../src/engine/schedule/scheduler.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { CardTable, configOf, idsBetween, viewOf } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { Lead } from '../../../support/lead.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

/** Polls cards of carrier 0, of carrier 7; every card's usage. Nobody asks for the realname of carrier 9's cards. */
const ZERO = configOf(1, { carrierId: 0 });
const SEVEN = configOf(2, { carrierId: 7 });
const USAGE = configOf(3, { taskType: 'carddata' });
const VIEW = viewOf([ZERO, SEVEN, USAGE]);

let live: LiveStore;
let table: CardTable;
let lead: Lead;
let repair: RingRepair;

beforeEach(async () => {
  live = openLimitedLiveStore({ clock: new FakeClock() });
  table = new CardTable();
  lead = new Lead();
  repair = new RingRepair({
    live,
    records: { cards: table.port },
    requireLead: lead.require,
  });
  for (const config of VIEW.configs) {
    await live.rings.configure(ringOf(config), { intervalMs: 60_000, enabled: true });
    await live.rings.startGeneration(ringOf(config), 32);
  }
});

const put = (config: PollingConfig, ids: readonly number[]) => live.rings.add(ringOf(config), ids);

async function membersOf(config: PollingConfig): Promise<number[]> {
  const { cardIds } = await live.rings.page(ringOf(config), 0, 32);
  return [...cardIds].sort((a, b) => a - b);
}

async function members(): Promise<{ zero: number[]; seven: number[]; usage: number[] }> {
  return { zero: await membersOf(ZERO), seven: await membersOf(SEVEN), usage: await membersOf(USAGE) };
}

/** Repairs cards that did not change since they were looked at. */
const repairSettled = (ids: readonly number[]) => repair.repair(ids, table.seen(ids), VIEW);

describe('looking at cards', () => {
  it('finds those that are missing from a ring, of each type, and asks each ring only for its own cards', async () => {
    table.put([1, 2, 3, 4]);
    await put(USAGE, [1, 2, 3]);
    await put(ZERO, [1, 3, 4]);
    await put(SEVEN, [2, 3]);
    const asked = vi.spyOn(live.rings, 'contains');
    const cards = await table.port.page(0, 10);
    expect((await repair.missing(cards, VIEW)).map(({ cardId }) => cardId)).toEqual([2, 4]);
    expect(asked.mock.calls.map(([ring, ids]) => [ring.configId, ids])).toEqual([
      [ZERO.id, [1, 2, 3, 4]],
      [USAGE.id, [1, 2, 3, 4]],
    ]);
  });

  it('finds nothing wrong with a card that is where it belongs, nor with one that no config polls', async () => {
    table.put([1]);
    table.put([9], { carrierId: 9 });
    await put(ZERO, [1]);
    await put(USAGE, [1, 9]);
    expect(await repair.missing(await table.port.page(0, 10), VIEW)).toEqual([]);
  });
});

describe('looking at members', () => {
  it('finds those that are no card, belong to another ring, or to none', async () => {
    table.put([1]);
    table.put([7], { carrierId: 7 });
    table.put([9], { carrierId: 9 });
    expect(await repair.strays(ZERO, [1, 7, 9, 1_000], VIEW)).toEqual(table.seen([7, 9, 1_000]));
  });

  it('reads the cards in parts, and none for an empty bucket', async () => {
    const ids = idsBetween(1, 20_000);
    table.put(ids);
    table.remove([1, 20_000]);
    expect([...(await repair.strays(ZERO, ids, VIEW))]).toEqual([
      [1, null],
      [20_000, null],
    ]);
    await repair.strays(ZERO, [], VIEW);
    expect(table.reads).toEqual([10_000, 10_000]);
  });
});

describe('repairing', () => {
  it('puts cards that are in no ring of a type into the one they belong to', async () => {
    table.put([1, 2]);
    table.put([7], { carrierId: 7 });
    await put(USAGE, [1, 2]);
    await put(ZERO, [2]);
    expect(await repairSettled([1, 2, 7])).toEqual({ missing: 3, foreign: 0, double: 0 });
    expect(await members()).toEqual({ zero: [1, 2], seven: [7], usage: [1, 2, 7] });
  });

  it('takes out members that are no card, and those that no config polls', async () => {
    table.put([9], { carrierId: 9 });
    await put(ZERO, [9, 1_000]);
    await put(USAGE, [9]);
    expect(await repairSettled([9, 1_000])).toEqual({ missing: 0, foreign: 2, double: 0 });
    expect(await members()).toEqual({ zero: [], seven: [], usage: [9] });
  });

  it('moves a card out of the wrong ring into its own, whichever of them comes first', async () => {
    table.put([1]);
    table.put([7], { carrierId: 7 });
    await put(ZERO, [7]);
    await put(SEVEN, [1]);
    await put(USAGE, [1, 7]);
    expect(await repairSettled([1, 7])).toEqual({ missing: 2, foreign: 2, double: 0 });
    expect(await members()).toEqual({ zero: [1], seven: [7], usage: [1, 7] });
  });

  it('counts a card as double, and neither missing nor foreign, that is in its own ring and another', async () => {
    table.put([1, 2, 3]);
    await put(USAGE, [1, 2, 3]);
    await put(ZERO, [1, 2, 3]);
    await put(SEVEN, [1, 2, 1_000]);
    expect(await repairSettled([1, 2, 3, 1_000])).toEqual({ missing: 0, foreign: 1, double: 2 });
    expect(await members()).toEqual({ zero: [1, 2, 3], seven: [], usage: [1, 2, 3] });
  });

  it('leaves cards that were not asked for alone', async () => {
    table.put([1, 2]);
    await put(SEVEN, [1, 2]);
    await put(USAGE, [1, 2]);
    await repairSettled([1]);
    expect(await members()).toEqual({ zero: [1], seven: [2], usage: [1, 2] });
  });

  it('leaves cards to the change feed that changed since they were looked at', async () => {
    table.put([1, 2, 3]);
    const seen = table.seen([1, 2, 3, 4]);
    await put(SEVEN, [2, 3]);
    await put(USAGE, [2, 3]);
    table.put([1], { carrierId: 7 });
    table.put([2], { realNameVerified: true });
    table.remove([3]);
    table.put([4]);
    expect(await repair.repair([1, 2, 3, 4], seen, VIEW)).toEqual({ missing: 0, foreign: 0, double: 0 });
    expect(await members()).toEqual({ zero: [], seven: [2, 3], usage: [2, 3] });
  });

  it('writes to no further ring once another instance leads', async () => {
    table.put([1]);
    table.put([7], { carrierId: 7 });
    lead.looksLeft = 1;
    await expect(repairSettled([1, 7])).rejects.toThrow('lead lost');
    expect(await members()).toEqual({ zero: [1], seven: [], usage: [] });
    await expect(repairSettled([1, 7])).rejects.toThrow('lead lost');
    expect(await members()).toEqual({ zero: [1], seven: [], usage: [] });
  });
});
