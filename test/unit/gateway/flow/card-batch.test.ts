// Calls for many cards: how they are gathered, and what one bad card does to the others.
import { expect, it } from 'vitest';
import { CardBatch } from '../../../../src/gateway/flow/card-batch.ts';
import { type CalledCard, GatewayError, type Pass } from '../../../../src/gateway/gateway.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const cardOf = (cardId: number): CalledCard => ({ cardId, iccid: `8986${cardId}`, carrierId: 0 });

function batchOf(size: number, answer: (card: CalledCard, all: readonly CalledCard[]) => number | Error) {
  const clock = new FakeClock();
  const sent: { ids: number[]; timeoutMs: number; pass: Pass | undefined }[] = [];
  const gathered: number[] = [];
  const givenBack: unknown[] = [];
  const passOf = () => {
    const pass: Pass = { giveBack: () => void givenBack.push(pass) };
    return pass;
  };
  const gather = async (withinMs: number) => {
    gathered.push(withinMs);
    return passOf();
  };
  const send = async (cards: readonly CalledCard[], timeoutMs: number, pass?: Pass) => {
    sent.push({ ids: cards.map(({ cardId }) => cardId), timeoutMs, pass });
    await clock.sleep(10);
    return cards.map((card) => {
      const value = answer(card, cards);
      if (value instanceof GatewayError && value.message === 'alone') return value;
      if (value instanceof Error) throw value;
      return { value, durationMs: 10 };
    });
  };
  const batch = new CardBatch(size, clock, { send, gather });
  const call = (id: number, timeoutMs = 5_000, pass?: Pass) =>
    batch.call(cardOf(id), timeoutMs, pass).then(
      ({ value }) => value,
      (error: unknown) => (error as GatewayError).failure,
    );
  const all = async (ids: readonly number[], timeoutMs?: number) => {
    const calls = Promise.all(ids.map((id) => call(id, timeoutMs)));
    await clock.run(10_000);
    return calls;
  };
  return { clock, sent, gathered, givenBack, passOf, call, all };
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

it('sends full batches at once, and the rest after a few milliseconds', async () => {
  const { sent, all } = batchOf(3, ({ cardId }) => 10 * cardId);
  expect(await all(upTo(7))).toEqual([10, 20, 30, 40, 50, 60, 70]);
  expect(sent.map(({ ids }) => ids)).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
  expect(sent.map(({ pass }) => pass)).toEqual([undefined, undefined, undefined]);
});

it('takes cards of the next claim along', async () => {
  const { clock, sent, call } = batchOf(10, ({ cardId }) => cardId);
  const first = call(1);
  await clock.run(10);
  const second = call(2);
  await clock.run(1_000);
  expect([await first, await second, sent.length]).toEqual([1, 2, 1]);
});

it('lets no card whose time is nearly over shorten the call for others', async () => {
  const { clock, sent, call } = batchOf(10, ({ cardId }) => cardId);
  const calls = Promise.all([call(1), call(2, 10), call(3, 400), call(4)]);
  await clock.run(1_000);
  expect(await calls).toEqual([1, 'held', 3, 4]);
  expect(sent.map(({ ids, timeoutMs }) => [ids, timeoutMs])).toEqual([
    [[1, 4], 5_000 - 15],
    [[3], 400 - 15],
  ]);
  const late = Promise.all([call(5, 10), call(6, 12)]);
  await clock.run(1_000);
  expect([await late, sent.length]).toEqual([['held', 'held'], 2]);
});

it('fails a card alone that the answer fails alone', async () => {
  const { all, sent } = batchOf(4, ({ cardId }) =>
    cardId === 2 ? new GatewayError('card', 'alone') : cardId,
  );
  expect(await all(upTo(4))).toEqual([1, 'card', 3, 4]);
  expect(sent).toHaveLength(1);
});

it('finds the card that spoils a batch, and calls it alone from then on', async () => {
  let healed = false;
  const { all, sent } = batchOf(100, ({ cardId }) =>
    cardId === 37 && !healed ? new GatewayError('card', 'spoiled') : cardId,
  );
  const expected = upTo(100).map((id) => (id === 37 ? 'card' : id));
  expect(await all(upTo(100))).toEqual(expected);
  // Two for each time that it is split, after the first.
  expect(sent.length).toBeLessThanOrEqual(15);
  expect(sent.slice(1).every(({ pass }) => pass !== undefined)).toBe(true);
  const before = sent.length;
  expect(await all(upTo(100))).toEqual(expected);
  expect(sent.slice(before).map(({ ids }) => ids.length)).toEqual([1, 99]);
  healed = true;
  await all([37]);
  const after = sent.length;
  expect(await all(upTo(100))).toEqual(upTo(100));
  expect(sent.length - after).toBe(1);
});

it('looks for no bad card without end where the gateway refuses every call', async () => {
  let refuses = true;
  const { all, sent, clock } = batchOf(100, ({ cardId }) =>
    refuses ? new GatewayError('business', 'the account is locked') : cardId,
  );
  const began = clock.monotonic();
  for (let round = 0; round < 30; round += 1)
    expect(new Set(await all(upTo(100)))).toEqual(new Set(['business']));
  const minutes = (clock.monotonic() - began) / 60_000;
  // One for each round, and twenty that are split a minute.
  expect(sent.length).toBeLessThanOrEqual(30 + 40 * Math.ceil(minutes));
  refuses = false;
  const before = sent.length;
  expect(await all(upTo(100))).toEqual(upTo(100));
  expect(sent.length - before).toBe(1);
});

it.each(['backpressure', 'auth', 'timeout', 'connect', 'network'] as const)(
  'splits nothing when the gateway fails with %s',
  async (failure) => {
    const { all, sent } = batchOf(10, () => new GatewayError(failure, 'as the test says'));
    expect(await all(upTo(10))).toEqual(upTo(10).map(() => failure));
    expect(sent).toHaveLength(1);
  },
);

it('splits a batch that the gateway fails to serve only while it serves others', async () => {
  const { all, sent, clock } = batchOf(4, ({ cardId }) =>
    cardId === 3 ? new GatewayError('http', 'HTTP 500') : cardId,
  );
  expect(await all(upTo(4))).toEqual(['http', 'http', 'http', 'http']);
  expect(sent).toHaveLength(1);
  await all([9]);
  expect(clock.monotonic()).toBeGreaterThan(0);
});

it('splits it right after a success', async () => {
  const { call, sent, clock } = batchOf(4, ({ cardId }) =>
    cardId === 3 ? new GatewayError('http', 'HTTP 500') : cardId,
  );
  const good = call(9);
  await clock.run(100);
  await good;
  const calls = Promise.all(upTo(4).map((id) => call(id)));
  await clock.run(1_000);
  expect(await calls).toEqual([1, 2, 'http', 4]);
  expect(sent.map(({ ids }) => ids.length)).toEqual([1, 4, 2, 2, 1, 1]);
});

it('splits only while there is time, and blames no card that it could not clear', async () => {
  const { all, sent } = batchOf(64, ({ cardId }) =>
    cardId === 64 ? new GatewayError('card', 'spoiled') : cardId,
  );
  const ends = await all(upTo(64), 60);
  // Both halves are called at the same time: five calls one after the other fit in.
  expect(ends).toEqual([...upTo(60), 'held', 'held', 'held', 'held']);
  expect(sent.map(({ ids }) => ids.length)).toEqual([64, 32, 32, 16, 16, 8, 8, 4, 4]);
});

it('uses one pass for many cards, and none where one of them needs none', async () => {
  const { clock, sent, givenBack, passOf, call } = batchOf(10, ({ cardId }) => cardId);
  const [first, second, third] = [passOf(), passOf(), passOf()];
  const follow = Promise.all([call(1, 5_000, first), call(2, 5_000, second)]);
  await clock.run(100);
  await follow;
  const mixed = Promise.all([call(3, 5_000, third), call(4)]);
  await clock.run(100);
  await mixed;
  expect(sent.map(({ pass }) => pass)).toEqual([first, undefined]);
  expect(givenBack).toEqual([second, third]);
});

it('gives the pass of a card back whose time is over', async () => {
  const { clock, sent, givenBack, passOf, call } = batchOf(10, ({ cardId }) => cardId);
  const pass = passOf();
  const late = call(1, 10, pass);
  await clock.run(100);
  expect([await late, sent.length, givenBack]).toEqual(['held', 0, [pass]]);
});
