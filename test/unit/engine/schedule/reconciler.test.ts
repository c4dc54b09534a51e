// Passes of reconciliation step by step, on the live store of this process and a table of cards in memory. How the
// initialiser drives them: test/integration/engine/schedule/initialiser.test.ts.

import { beforeEach, describe, expect, it } from 'vitest';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import type { CarrierCards } from '../../../../src/domain/schedule/card-counts.ts';
import type { PollingConfig } from '../../../../src/domain/schedule/polling-config.ts';
import { Reconciler, type Suspicion } from '../../../../src/engine/schedule/reconciler.ts';
import type { Repairs } from '../../../../src/engine/schedule/ring-repair.ts';
import { ringOf } from '../../../../src/engine/schedule/scheduler.ts';
import {
  NEVER_RECONCILED,
  type Reconciliation,
  type ReconciliationReason,
} from '../../../../src/store/ports/live/coordination.ts';
import type { LiveStore } from '../../../../src/store/ports/live/live-store.ts';
import { CardTable, configOf, idsBetween, viewOf } from '../../../support/card-table.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { Lead } from '../../../support/lead.ts';
import { openLimitedLiveStore } from '../../../support/limits.ts';

const START = Date.parse('2026-11-01T00:00:00Z');
const ALL = configOf(1);
const USAGE = configOf(2, { taskType: 'carddata' });
const VIEW = viewOf([ALL]);
const FAST_CARDS = 100;
const KNOWN = { ...NEVER_RECONCILED, liveIdentity: 'redis 1', recordIdentity: 'database 1' };

let clock: FakeClock;
let live: LiveStore;
let table: CardTable;
let identities: { live: string; records: string };
let lead: Lead;
let reasons: ReconciliationReason[];
let repairs: Repairs[];
/** The rings whose members were counted again, by config id. */
let recounted: number[];
/** What each step finds. */
let inDoubt: CarrierCards[] = [];
/** The steps of the walk that counts cards over their package. */
let swept: unknown[];
/** Cards put into a ring before the connection breaks. */
let addsLeft: number;
let reconciler: Reconciler;

beforeEach(() => {
  clock = new FakeClock(START);
  live = openLimitedLiveStore({ clock });
  table = new CardTable();
  identities = { live: 'redis 1', records: 'database 1' };
  lead = new Lead();
  [reasons, repairs, recounted, swept, inDoubt] = [[], [], [], [], []];
  addsLeft = Number.POSITIVE_INFINITY;
  reconciler = new Reconciler({
    live: { ...live, rings: observed(live.rings), identity: async () => identities.live },
    records: {
      cards: table.port,
      identity: async () => identities.records,
      stops: {
        sweep: async (...step) => {
          swept.push(step);
          return inDoubt;
        },
      },
    },
    calendar: new MonthCalendar('UTC'),
    requireLead: lead.require,
    onBegin: (reason) => reasons.push(reason),
    onRepair: (made) => repairs.push(made),
  });
});

/** The rings; they note counts, and fail when a test wants it. */
function observed(rings: LiveStore['rings']): LiveStore['rings'] {
  const own: Partial<LiveStore['rings']> = {
    recount: (ring) => {
      recounted.push(ring.configId);
      return rings.recount(ring);
    },
    add: async (ring, cardIds) => {
      if (cardIds.length > addsLeft) throw new Error('the connection broke');
      addsLeft -= cardIds.length;
      return rings.add(ring, cardIds);
    },
  };
  return new Proxy(rings, {
    get: (target, name) => {
      const value = own[name as keyof typeof own] ?? target[name as keyof typeof target];
      return value.bind(target);
    },
  });
}

async function build(config: PollingConfig, buckets: number, cardIds: readonly number[] = []): Promise<void> {
  await live.rings.configure(ringOf(config), { intervalMs: 60_000, enabled: true });
  await live.rings.startGeneration(ringOf(config), buckets);
  await live.rings.add(ringOf(config), cardIds);
}

/** A state in the middle of a pass. */
function standing(position: string, differing: Partial<Reconciliation> = {}): Reconciliation {
  return { ...KNOWN, position, startedAtMs: START - 5_000, sweptAtMs: START - 1_000, ...differing };
}

async function look(state: Reconciliation, view = VIEW, fastCards = FAST_CARDS): Promise<Suspicion> {
  const looked = await reconciler.look(state, view, fastCards);
  if (looked === null) return expect.unreachable('there was something to look at');
  return looked;
}

const stored = () => live.coordination.reconciliation();
const suspectIds = ({ suspects }: Suspicion) => [...suspects.keys()].sort((a, b) => a - b);

describe('reasons to begin', () => {
  it('notes the stores that it sees first', async () => {
    expect(await reconciler.reasonToBegin(await reconciler.read())).toEqual({ state: KNOWN, reason: null });
    expect(await reconciler.read()).toEqual(KNOWN);
  });

  it('notes nothing once another instance leads', async () => {
    lead.looksLeft = 0;
    await expect(reconciler.reasonToBegin(NEVER_RECONCILED)).rejects.toThrow('lead lost');
    expect(await stored()).toEqual(NEVER_RECONCILED);
  });

  it('finds none, and writes nothing, while the stores are those it knows', async () => {
    expect(await reconciler.reasonToBegin(KNOWN)).toEqual({ state: KNOWN, reason: null });
    expect(await stored()).toEqual(NEVER_RECONCILED);
  });

  it.each([
    ['the live store', 'live_store_replaced', { live: 'redis 2', records: 'database 1' }],
    ['the database', 'record_store_replaced', { live: 'redis 1', records: 'database 2' }],
    ['both: the database, which asks for more', 'record_store_replaced', { live: 'redis 2', records: 'x' }],
  ])(
    'finds out that a store was replaced, and notes the new one only with a pass: %s',
    async (_, reason, now) => {
      identities = now;
      const state = { ...KNOWN, requestedMs: 5 };
      const stores = { liveIdentity: now.live, recordIdentity: now.records };
      expect(await reconciler.reasonToBegin(state)).toEqual({ state: { ...state, ...stores }, reason });
      expect(await stored()).toEqual(NEVER_RECONCILED);
    },
  );

  it('knows the database by the shorter identity that release 0.2.0 stored', async () => {
    identities = { live: 'redis 1', records: 'database 1/16384/16412' };
    const { state, reason } = await reconciler.reasonToBegin(KNOWN);
    expect(reason).toBeNull();
    expect(state.recordIdentity).toBe('database 1/16384/16412');
    identities = { live: 'redis 1', records: 'database 1/16384/164123' };
    expect(await reconciler.reasonToBegin(state)).toMatchObject({ reason: 'record_store_replaced' });
  });

  it('takes a request for one until it was answered', async () => {
    const asked = { ...KNOWN, requestedMs: 6, answeredRequestMs: 5 };
    expect(await reconciler.reasonToBegin(asked)).toEqual({ state: asked, reason: 'requested' });
    const answered = { ...asked, answeredRequestMs: 6 };
    expect(await reconciler.reasonToBegin(answered)).toEqual({ state: answered, reason: null });
  });
});

describe('beginning', () => {
  it('begins with the first card, answers the request and notes the stores that were a reason', async () => {
    await live.coordination.requestReconciliation(77);
    const asked = standing('ring:1:0.5', { checked: 40, healed: 3, healedMissing: 9, requestedMs: 77 });
    const state = { ...asked, liveIdentity: 'redis 2', recordIdentity: 'database 2' };
    const begun = await reconciler.begin(state, 'requested');
    expect(begun).toEqual({
      ...state,
      reason: 'requested',
      position: 'cards:0',
      checked: 0,
      startedAtMs: START,
      liveIdentity: 'redis 2',
      recordIdentity: 'database 2',
      answeredRequestMs: 77,
    });
    expect(await stored()).toEqual(begun);
    expect(reasons).toEqual(['requested']);
  });

  it('begins nothing once another instance leads', async () => {
    lead.looksLeft = 0;
    await expect(reconciler.begin(KNOWN, 'requested')).rejects.toThrow('lead lost');
    expect([await stored(), reasons]).toEqual([NEVER_RECONCILED, []]);
  });
});

describe('looking at cards', () => {
  it('rests between two passes for a minute, then begins with the first card', async () => {
    table.put([1]);
    await build(ALL, 32);
    inDoubt = [{ carrierId: 7, cards: 20 }];
    const state = { ...KNOWN, checked: 9, startedAtMs: START - 90_000, sweptAtMs: START - 59_999 };
    expect(await reconciler.look(state, VIEW, FAST_CARDS)).toBeNull();
    clock.advance(1);
    const looked = await look(state);
    expect(looked.state).toEqual({ ...state, position: 'cards:0', checked: 0, startedAtMs: START + 1 });
    expect(looked.next).toEqual({
      ...looked.state,
      position: 'ring:1:0',
      checked: 1,
      counted: '0:0:1,7:d:20',
    });
    expect(looked).toMatchObject({ suspects: table.seen([1]), matcher: VIEW });
  });

  it('begins where a pass ended in the future: the clock was set back', async () => {
    table.put([1]);
    await build(ALL, 32);
    const ended = (sweptAtMs: number) => reconciler.look({ ...KNOWN, sweptAtMs }, VIEW, FAST_CARDS);
    expect(await ended(START + 59_999)).toBeNull();
    expect(await ended(START + 365 * 86_400_000)).not.toBeNull();
  });

  it('begins at once where no pass ever ended', async () => {
    expect((await look(KNOWN)).next.position).toBe('ring:1:0');
  });

  it('takes 2,000 cards a step, and goes on after the last one', async () => {
    const ids = idsBetween(1, 2_001);
    table.put(ids);
    await build(ALL, 32, ids);
    await live.rings.remove(ringOf(ALL), [1, 2_000, 2_001]);
    const first = await look(standing('cards:0'));
    expect(suspectIds(first)).toEqual([1, 2_000]);
    expect(first.next).toEqual(standing('cards:2000', { checked: 2_000, counting: '0:0:2000' }));
    const second = await look(first.next);
    expect(suspectIds(second)).toEqual([2_001]);
    expect(second.next).toEqual(standing('ring:1:0', { checked: 2_001, counted: '0:0:2001' }));
    expect(table.reads).toEqual([2_000, 2_000]);
  });

  it('takes as many as initialisation does in a pass with a reason, in parts, until a part is not full', async () => {
    const ids = idsBetween(1, 12_000);
    table.put(ids);
    await build(ALL, 32, ids);
    const fast = { reason: 'requested' } as const;
    const first = await look(standing('cards:0', fast), VIEW, 12_000);
    expect(table.reads).toEqual([10_000, 2_000]);
    expect(first.next).toEqual(standing('cards:12000', { ...fast, checked: 12_000, counting: '0:0:12000' }));
    const second = await look(first.next, VIEW, 30_000);
    expect(table.reads, 'no card is left').toEqual([10_000, 2_000, 10_000]);
    expect(second.next).toEqual(standing('ring:1:0', { ...fast, checked: 12_000, counted: '0:0:12000' }));
  });

  it('has nothing to look at after the cards where there is no config', async () => {
    table.put([1]);
    expect((await look(standing('cards:0'), viewOf([]))).next.position).toBe('');
    // The walk over all cards ends with the last of them, whatever id comes later.
    expect(swept.at(-1)).toEqual([
      0,
      Number.MAX_SAFE_INTEGER,
      expect.stringMatching(/^\d{4}-\d\d$/),
      expect.any(Number),
    ]);
  });
});

describe('looking at members', () => {
  it('goes through the rings by config id, in whatever order the configs are', async () => {
    const configs = [3, 1, 2].map((id) => configOf(id));
    // Each holds a member that is no card.
    for (const config of configs) await build(config, 32, [1_000 * config.id]);
    const steps: unknown[] = [];
    for (let state = standing('ring:1:0', { checked: 5 }); state.position !== ''; ) {
      const looked = await look(state, viewOf(configs));
      state = looked.next;
      expect(state.checked, 'cards alone are counted').toBe(5);
      steps.push([suspectIds(looked), state.position]);
    }
    expect(steps).toEqual([
      [[1_000], 'ring:2:0'],
      [[2_000], 'ring:3:0'],
      [[3_000], ''],
    ]);
  });

  it('goes on with the next ring where a config is gone', async () => {
    await build(USAGE, 32, [1]);
    const looked = await look(standing('ring:1:0'), viewOf([USAGE]));
    expect([looked.next.position, looked.suspects.size]).toEqual(['ring:2:0', 0]);
  });

  it('finds strays in all buckets of its stretch, and not in those before it', async () => {
    table.put(idsBetween(1, 500));
    await build(ALL, 256, idsBetween(1, 500));
    const { cardIds: early } = await live.rings.page(ringOf(ALL), 0, 64);
    const { cardIds: late } = await live.rings.page(ringOf(ALL), 0.25, 192);
    const ends = [late.at(0) ?? 0, late.at(-1) ?? 0];
    table.remove([...early, ...ends]);
    const looked = await look(standing('ring:1:0.25'));
    expect(suspectIds(looked)).toEqual(ends.sort((a, b) => a - b));
    expect([...looked.suspects.values()]).toEqual([null, null]);
    expect(looked.next.position).toBe('');
  });

  it('ends a step with 1,024 buckets, however few cards they hold', async () => {
    await build(ALL, 2_048);
    const first = await look(standing('ring:1:0'));
    expect(first.next.position).toBe('ring:1:0.5');
    expect((await look(first.next)).next.position).toBe('');
  });

  it('ends a step with its cards, at the end of a bucket', async () => {
    const ids = idsBetween(1, 8_192);
    table.put(ids);
    await build(ALL, 1_024, ids);
    const { cardIds: first, nextPhase } = await live.rings.page(ringOf(ALL), 0, 32);
    const { cardIds: second, nextPhase: thirdPhase } = await live.rings.page(ringOf(ALL), nextPhase ?? 0, 32);
    const state = standing('ring:1:0', { reason: 'requested' });
    expect((await look(state, VIEW, first.length)).next.position).toBe(`ring:1:${nextPhase}`);
    const both = first.length + second.length;
    expect((await look(state, VIEW, first.length + 1)).next.position).toBe(`ring:1:${thirdPhase}`);
    expect((await look(state, VIEW, both)).next.position).toBe(`ring:1:${thirdPhase}`);
  });
});

describe('repairing', () => {
  /** As a look would have found these cards wrong. */
  function suspicion(ids: readonly number[], next: Reconciliation, view = VIEW): Suspicion {
    return { state: { ...next, position: 'cards:0' }, next, suspects: table.seen(ids), matcher: view };
  }

  it('saves its position when nothing was wrong, and reports no repair', async () => {
    const next = standing('cards:10');
    expect(await reconciler.heal(suspicion([], next))).toEqual(next);
    expect([await stored(), repairs]).toEqual([next, []]);
  });

  it('adds what it repaired to what was repaired before, kind by kind', async () => {
    table.put([1, 2, 3, 4, 5, 6]);
    const other = configOf(5, { carrierId: 7 });
    await build(ALL, 32, [4, 5]);
    await build(other, 32, [4, 5, 1_000, 1_001, 1_002]);
    const next = standing('cards:10', {
      healed: 100,
      healedMissing: 200,
      healedForeign: 300,
      healedDouble: 400,
    });
    const wrong = [1, 2, 3, 6, 4, 5, 1_000, 1_001, 1_002];
    const state = await reconciler.heal(suspicion(wrong, next, viewOf([ALL, other])));
    expect(state).toEqual({
      ...next,
      healed: 109,
      healedMissing: 204,
      healedForeign: 303,
      healedDouble: 402,
    });
    expect(await stored()).toEqual(state);
    expect(repairs).toEqual([{ missing: 4, foreign: 3, double: 2 }]);
  });

  it('repairs in parts, and reports them together', async () => {
    const ids = idsBetween(1, 20_000);
    table.put(ids);
    await build(ALL, 1_024);
    await reconciler.heal(suspicion(ids, standing('cards:20000', { reason: 'requested' })));
    expect(table.reads).toEqual([10_000, 10_000]);
    expect(repairs).toEqual([{ missing: 20_000, foreign: 0, double: 0 }]);
    expect(await live.rings.list()).toMatchObject([{ members: 20_000 }]);
  });

  it('reports no repair when the suspects are right by then', async () => {
    table.put([1]);
    await build(ALL, 32, [1]);
    expect(await reconciler.heal(suspicion([1], standing('cards:1')))).toMatchObject({ healed: 0 });
    expect(repairs).toEqual([]);
  });

  it.each([
    ['what it is about to repair', 0, 2],
    ['nothing where repairs are noted already', 7, 7],
  ])(
    'notes before the first repair %s, so that the members are counted though it is cut off',
    async (_, healed, noted) => {
      table.put([1, 2]);
      await build(ALL, 32);
      addsLeft = 0;
      const found = suspicion([1, 2], standing('cards:2', { healed }));
      await live.coordination.saveReconciliation(found.state);
      await expect(reconciler.heal(found)).rejects.toThrow('the connection broke');
      expect(await stored()).toEqual({ ...found.state, healed: noted });
    },
  );

  it('writes nothing once another instance leads', async () => {
    table.put([1]);
    await build(ALL, 32);
    lead.looksLeft = 0;
    await expect(reconciler.heal(suspicion([1], standing('cards:1')))).rejects.toThrow('lead lost');
    await expect(reconciler.heal(suspicion([], standing('cards:1')))).rejects.toThrow('lead lost');
    expect(await stored()).toEqual(NEVER_RECONCILED);
    expect(await live.rings.list()).toMatchObject([{ members: 0 }]);
  });

  describe('at the end of a pass', () => {
    const view = viewOf([ALL, USAGE]);

    beforeEach(async () => {
      table.put([1]);
      await build(ALL, 32);
      await build(USAGE, 32, [1]);
    });

    it.each([
      ['nothing was repaired', {}, [], []],
      ['this step repaired', {}, [1], [1, 2]],
      ['a step before repaired', { healed: 3 }, [], [1, 2]],
      ['there was a reason for it', { reason: 'live_store_replaced' }, [], [1, 2]],
    ] as const)(
      'counts the members of all rings again when their number is in doubt: %s',
      async (_, differing, wrong, counted) => {
        clock.advance(2_000);
        const state = await reconciler.heal(suspicion(wrong, standing('', differing), view));
        expect(recounted).toEqual(counted);
        expect(state).toEqual({
          ...standing(''),
          healedMissing: wrong.length,
          sweptAtMs: START + 2_000,
        });
        expect(await stored()).toEqual(state);
      },
    );

    it('counts none before it', async () => {
      await reconciler.heal(suspicion([1], standing('ring:2:0', { reason: 'requested' }), view));
      expect(recounted).toEqual([]);
    });

    it('counts no further ring once another instance leads', async () => {
      lead.looksLeft = 1;
      await expect(reconciler.heal(suspicion([], standing('', { healed: 3 }), view))).rejects.toThrow(
        'lead lost',
      );
      expect(recounted).toEqual([1]);
      expect(await stored()).toEqual(NEVER_RECONCILED);
    });
  });

  describe('when many cards are missing at once', () => {
    beforeEach(async () => {
      table.put(idsBetween(1, 16));
      await build(ALL, 32);
    });

    it('begins a fast pass, with what was repaired written down', async () => {
      const state = await reconciler.heal(suspicion(idsBetween(1, 16), standing('cards:16')));
      expect(state).toMatchObject({
        reason: 'members_lost',
        position: 'cards:0',
        healed: 16,
        healedMissing: 16,
      });
      expect(await stored()).toEqual(state);
      expect(reasons).toEqual(['members_lost']);
    });

    it('leaves it a reason to begin that the store was replaced', async () => {
      identities = { live: 'redis 2', records: 'database 1' };
      const begun = await reconciler.heal(suspicion(idsBetween(1, 16), standing('cards:16')));
      expect(begun.reason).toBe('members_lost');
      expect(await reconciler.reasonToBegin(begun)).toMatchObject({ reason: 'live_store_replaced' });
    });

    it.each([
      ['for one card less', 15, [], {}],
      ['for members that are too many', 15, [1_000, 1_001], {}],
      ['in a fast pass, which would never end', 16, [], { reason: 'live_store_replaced' }],
    ] as const)('goes on as it was %s', async (_, missing, foreign, differing) => {
      await live.rings.add(ringOf(ALL), foreign);
      const next = standing('cards:16', differing);
      const wrong = [...idsBetween(1, missing), ...foreign];
      const state = await reconciler.heal(suspicion(wrong, next));
      const healed = { healed: wrong.length, healedMissing: missing, healedForeign: foreign.length };
      expect(state).toEqual({ ...next, ...healed });
      expect(reasons).toEqual([]);
    });

    it('begins no further pass where the last step of a fast one finds them', async () => {
      const next = standing('', { reason: 'live_store_replaced' });
      const state = await reconciler.heal(suspicion(idsBetween(1, 16), next));
      expect(state).toMatchObject({ reason: 'continuous', position: '' });
      expect(reasons).toEqual([]);
    });
  });
});
