// Manual triggers as the API and nobody else works on them, over a real database and the live store of this process: what is
// made, told and refused, and what the trail keeps of it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Actor } from '../../../src/domain/audit.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import { CardpollError } from '../../../src/platform/errors.ts';
import { type OperatedStores, openOperatedStores } from '../../support/operated-stores.ts';

const ANNA: Actor = { name: 'anna', role: 'admin', address: null, requestId: 'req-1' };
const NOT_FOUND = {
  kind: 'not_found',
  code: 'trigger_not_found',
  hint: expect.stringContaining('cardpoll trigger list'),
};

let stores: OperatedStores;
let triggers: Operations['triggers'];

beforeAll(async () => {
  stores = await openOperatedStores();
  await stores.sql(`INSERT INTO cards (card_id, iccid, carrier_id, status)
    SELECT id, '8986' || lpad(id::text, 16, '0'), id % 4, id % 3 FROM generate_series(1, 12) id`);
});
afterAll(() => stores.close());
beforeEach(async () => {
  triggers = stores.operations().triggers;
  await stores.sql('DELETE FROM manual_trigger_cards; DELETE FROM manual_triggers');
});

const NO_LIMITS = { maxOpenTriggers: Infinity, maxOpenConditionTriggers: Infinity, maxAlertRules: Infinity };
const FLEET = { carrierId: null, status: null };

async function claim(max: number): Promise<number[]> {
  const request = { instanceId: 'w', claimNumber: stores.nextClaim(), max, leaseMs: 600_000 };
  const { items } = await stores.live.work.claim('realname', request);
  return items.map(({ cardId }) => cardId);
}

describe('a single card', () => {
  it('is put into the list at once, and named in the trail', async () => {
    const made = await triggers.single(ANNA, 'realname', 5);
    expect(made).toMatchObject({ kind: 'single', total: 1, waiting: 1, running: 0, finishedAt: null });
    expect(await stores.lastTrace()).toMatchObject({
      name: 'anna',
      action: 'trigger.create',
      object: `trigger ${made.triggerId}`,
      after: { kind: 'single', task_type: 'realname', total: 1, card_id: 5 },
    });
    expect(await claim(10)).toEqual([5]);
    expect(await triggers.show(made.triggerId)).toMatchObject({ waiting: 0, running: 1 });
  });

  it('that does not exist is refused', async () => {
    await expect(triggers.single(ANNA, 'realname', 99)).rejects.toMatchObject({
      kind: 'not_found',
      code: 'card_not_found',
      message: 'there is no card 99',
    });
  });
});

describe('a list of cards', () => {
  it('holds each card that exists once, and names the others', async () => {
    const made = await triggers.batch(ANNA, 'realname', [3, 99, 3, 4, 98]);
    expect(made).toMatchObject({ kind: 'batch', total: 2, waiting: 2, unknownCardIds: [99, 98] });
    const { after } = await stores.lastTrace();
    expect(after).not.toHaveProperty('card_id');
    expect((await claim(10)).sort()).toEqual([3, 4]);
  });

  it('may have as many as there may be', async () => {
    expect(await triggers.batch(ANNA, 'realname', Array(10_000).fill(1))).toMatchObject({ total: 1 });
    await claim(10);
  });

  it('without a card that exists is over at once', async () => {
    expect(await triggers.batch(ANNA, 'realname', [99])).toMatchObject({ status: 'completed', total: 0 });
  });

  it('is accepted while the list cannot be reached: the leader puts its cards there', async () => {
    const failing = (error: Error) => stores.operations({ push: () => Promise.reject(error) }).triggers;
    const away = failing(new CardpollError('unavailable', 'live_store_unreachable', 'away'));
    expect(await away.batch(ANNA, 'realname', [1, 2])).toMatchObject({ status: 'queued', waiting: 2 });
    for (const bug of [new TypeError('a bug'), new CardpollError('busy', 'x', 'a bug')])
      await expect(failing(bug).batch(ANNA, 'realname', [1])).rejects.toBe(bug);
  });
});

describe('a condition', () => {
  it.each([
    [{ carrierId: 1, status: null }, 3],
    [{ carrierId: null, status: 2 }, 4],
    [{ carrierId: 1, status: 2 }, 1],
    [{ carrierId: null, status: null }, 12],
  ])('%j selects %i cards, and leaves the handing out to the leader', async (selection, total) => {
    expect(await triggers.count(selection)).toEqual({ matching: total, estimated: false });
    const made = await triggers.byCondition(ANNA, 'realname', selection);
    expect(made).toMatchObject({
      kind: 'by_condition',
      selection,
      total,
      totalEstimated: false,
      waiting: total,
    });
    expect((await stores.lastTrace()).after).toMatchObject({
      kind: 'by_condition',
      selection: { carrier_id: selection.carrierId, status: selection.status },
      total,
    });
    expect(await claim(10)).toEqual([]);
  });
});

describe('a trigger', () => {
  it('is listed with what runs of it, newest first', async () => {
    const first = await triggers.batch(ANNA, 'realname', [1, 2, 3]);
    const second = await triggers.batch(ANNA, 'package', [1, 2]);
    await claim(2);
    const { items, total } = await triggers.list({ page: 1, pageSize: 10 });
    expect(total).toBe(2);
    expect(items.map(({ triggerId, waiting, running }) => [triggerId, waiting, running])).toEqual([
      [second.triggerId, 2, 0],
      [first.triggerId, 1, 2],
    ]);
    await stores.records.triggers.count([{ triggerId: first.triggerId, cardId: 1, succeeded: false }]);
    expect(await triggers.show(first.triggerId)).toMatchObject({ failed: 1, waiting: 0, running: 2 });
    await claim(10);
  });

  it('is cancelled once: nothing of it waits any more, and the trail says what it was', async () => {
    const { triggerId } = await triggers.batch(ANNA, 'realname', [1, 2, 3]);
    await claim(1);
    expect(await triggers.cancel(ANNA, triggerId)).toMatchObject({
      status: 'cancelled',
      waiting: 0,
      running: 1,
    });
    expect(await stores.lastTrace()).toMatchObject({
      action: 'trigger.cancel',
      object: `trigger ${triggerId}`,
      before: { status: 'queued' },
      after: { status: 'cancelled' },
    });
    expect(await claim(10)).toEqual([]);
    await expect(triggers.cancel(ANNA, triggerId)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'trigger_finished',
      message: `manual trigger ${triggerId} has already ended`,
    });
  });

  it('is cancelled while the list cannot be reached: the leader empties it', async () => {
    const unreachable = new CardpollError('unavailable', 'live_store_unreachable', 'away');
    const fail = () => Promise.reject(unreachable);
    const away = stores.operations({ remove: fail, running: fail }).triggers;
    const { triggerId } = await triggers.batch(ANNA, 'realname', [1, 2]);
    expect(await away.cancel(ANNA, triggerId)).toMatchObject({ status: 'cancelled', waiting: 0 });
    await triggers.batch(ANNA, 'realname', [3]);
    expect(await away.cancelAll(ANNA, null)).toEqual({ triggers: 1, cards: 1 });
    expect(await stores.records.triggers.feeding(10)).toHaveLength(2);
    const bug = new TypeError('a bug');
    const broken = stores.operations({ remove: () => Promise.reject(bug) }).triggers;
    const other = await triggers.batch(ANNA, 'realname', [4]);
    await expect(broken.cancel(ANNA, other.triggerId)).rejects.toBe(bug);
    await claim(10);
  });

  it.each(['0123456789abcdef', '', 'x'.repeat(65), 'a b'])(
    'that nobody made is not found: %j',
    async (triggerId) => {
      const refusal = { ...NOT_FOUND, message: `there is no manual trigger ${triggerId}` };
      await expect(triggers.show(triggerId)).rejects.toMatchObject(refusal);
      await expect(triggers.cancel(ANNA, triggerId)).rejects.toMatchObject(refusal);
    },
  );

  it('is refused where as many are open as there may be', async () => {
    const bounded = stores.operations({}, { ...NO_LIMITS, maxOpenTriggers: 1 }).triggers;
    const { triggerId } = await bounded.single(ANNA, 'realname', 1);
    await expect(bounded.single(ANNA, 'realname', 2)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'too_many_triggers',
      message: '1 manual triggers are already open',
    });
    await bounded.cancel(ANNA, triggerId);
    expect(await bounded.single(ANNA, 'realname', 2)).toMatchObject({ total: 1 });
    await claim(10);
  });

  it('by condition leaves room for others: so many of a task type, and a refused one counts no cards', async () => {
    const bounded = stores.operations({}, { ...NO_LIMITS, maxOpenConditionTriggers: 2 }).triggers;
    const make = () => bounded.byCondition(ANNA, 'realname', FLEET);
    const outcomes = await Promise.allSettled([make(), make(), make()]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([
      {
        status: 'rejected',
        reason: expect.objectContaining({
          kind: 'conflict',
          code: 'too_many_condition_triggers',
          message: '2 triggers by condition are already open for realname',
          hint: expect.stringContaining('cardpoll trigger cancel --all'),
        }),
      },
    ]);
    await bounded.byCondition(ANNA, 'package', FLEET);
    await bounded.single(ANNA, 'realname', 1);
    await bounded.cancelAll(ANNA, 'realname');
    expect(await make()).toMatchObject({ total: 12 });
  });
});

describe('all open triggers', () => {
  it('are cancelled together, of one task type or of all: nothing of them waits, and the trail says so', async () => {
    await triggers.batch(ANNA, 'realname', [1, 2, 3]);
    const condition = await triggers.byCondition(ANNA, 'realname', FLEET);
    await triggers.batch(ANNA, 'carddata', [4, 5]);
    const over = await triggers.batch(ANNA, 'realname', [99]);
    await claim(1);
    expect(await triggers.openTotals(null)).toEqual({ triggers: 3, cards: 17 });
    expect(await triggers.cancelAll(ANNA, 'realname')).toEqual({ triggers: 2, cards: 15 });
    expect(await stores.lastTrace()).toMatchObject({
      action: 'trigger.cancel_all',
      object: 'task_type realname',
      after: { triggers: 2, cards: 15 },
    });
    expect(await claim(10)).toEqual([]);
    expect(await triggers.show(condition.triggerId)).toMatchObject({ status: 'cancelled', waiting: 0 });
    expect(await triggers.show(over.triggerId)).toMatchObject({ status: 'completed' });
    expect(await triggers.cancelAll(ANNA, null)).toEqual({ triggers: 1, cards: 2 });
    expect(await stores.lastTrace()).toMatchObject({ action: 'trigger.cancel_all', object: 'triggers' });
    expect((await stores.live.work.counts('carddata')).manualLength).toBe(0);
  });

  it('are none: nothing is changed, and nothing is traced', async () => {
    const { triggerId } = await triggers.batch(ANNA, 'realname', [1]);
    await triggers.cancel(ANNA, triggerId);
    const before = await stores.lastTrace();
    expect(await triggers.cancelAll(ANNA, null)).toEqual({ triggers: 0, cards: 0 });
    expect(await stores.lastTrace()).toEqual(before);
  });
});
