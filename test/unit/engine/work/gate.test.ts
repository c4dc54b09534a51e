// The one gate of polls: which part shuts it, in which order, and when a hold is shown. Parts behind it have tests of their own.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Card } from '../../../../src/domain/cards/card.ts';
import type { CardPace } from '../../../../src/engine/work/card-pace.ts';
import { Gate } from '../../../../src/engine/work/gate.ts';
import type { PollPace } from '../../../../src/engine/work/poll-pace.ts';
import { Deadline } from '../../../../src/engine/work/task.ts';
import type { Permit } from '../../../../src/gateway/gateway.ts';
import type { WorkItem } from '../../../../src/store/ports/live/work-queue.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const CARD = { cardId: 7 } as Card;
const ITEM: WorkItem = { cardId: 7, lane: 'schedule', member: '7', token: '1' };
const GOT = { items: [], pausedMs: 0, inForce: true };

let clock: FakeClock;
let gate: Gate;
let room: number;
let unread: boolean;
let permit: Permit;
let asked: number;
let paceRoom: number;
/** Whether the rate limits grant a call; milliseconds that the card waits, before and after the grant. */
let granted: boolean;
let early: number[];
let polled: number[];

beforeEach(() => {
  clock = new FakeClock();
  [room, unread, permit, asked, paceRoom] = [100, false, { calls: 30, trickle: false }, 0, 50];
  [granted, early, polled] = [true, [], []];
  gate = new Gate({
    taskType: 'carddata',
    writer: {
      get room() {
        return room;
      },
    },
    reader: {
      get holdsClaims() {
        return unread;
      },
    },
    flow: {
      permit: () => {
        asked += 1;
        return permit;
      },
    },
    pace: {
      get room() {
        return paceRoom;
      },
      claimed: () => {},
      turn: async () => granted,
      stop: () => {},
    } as unknown as PollPace,
    cardPace: {
      early: () => early.shift() ?? 0,
      polled: (cardId: number) => void polled.push(cardId),
    } as unknown as CardPace,
    claimBatch: 40,
    clock,
  });
});

describe('claims', () => {
  it.each([
    ['the batch', () => {}, 30],
    ['what the writer has room for', () => (room = 7), 7],
    ['what the rate limits grant ahead', () => (paceRoom = 3), 3],
    ['what flow control permits', () => (permit = { calls: 2, trickle: false }), 2],
  ])('as many cards as %s', (_, set, max) => {
    set();
    expect(gate.claim(0)).toEqual({ may: 'now', max, trickle: false });
  });

  it.each([
    ['results_wait', () => (room = 0)],
    ['cards_unread', () => (unread = true)],
    ['cards_unread', () => gate.unread(1_000)],
    ['rate_limit', () => (paceRoom = 0)],
  ])('nothing because of %s, and uses no permit of the trickle', (why, shut) => {
    shut();
    expect(gate.claim(0)).toEqual({ may: 'not before', waitMs: 50, why });
    expect(asked).toBe(0);
  });

  it('nothing while flow control permits none', () => {
    permit = { calls: 0, trickle: false };
    expect(gate.claim(0)).toMatchObject({ may: 'not before', why: 'interface' });
  });
});

describe('the hold that is shown', () => {
  it('lasts for a second, has one reason, and ends with a claim', () => {
    room = 0;
    gate.claim(0);
    clock.advance(999);
    expect(gate.hold).toBeNull();
    clock.advance(1);
    expect(gate.hold).toBe('results_wait');
    room = 100;
    unread = true;
    gate.claim(0);
    expect(gate.hold, 'another reason has a time of its own').toBeNull();
    clock.advance(1_000);
    expect(gate.hold).toBe('cards_unread');
    gate.claimed(GOT);
    expect(gate.hold).toBeNull();
  });

  it.each([
    ['paused', { ...GOT, pausedMs: 60_000 }],
    ['not_in_force', { ...GOT, inForce: false }],
    ['not_in_force', { ...GOT, inForce: false, pausedMs: 60_000 }],
  ])('is what the live store answers: %s', (why, claim) => {
    gate.claimed(claim);
    clock.advance(1_000);
    expect(gate.hold).toBe(why);
    expect([gate.pausedMs, gate.isInForce]).toEqual([Math.max(0, claim.pausedMs - 1_000), claim.inForce]);
  });
});

describe('a claimed card', () => {
  const ask = (leaseMs = 60_000) =>
    gate.card(ITEM, CARD, 60_000, new Deadline(clock, clock.monotonic(), leaseMs, clock.now()));

  it('is polled now, once nothing holds it back', async () => {
    expect(await ask()).toEqual({ may: 'now' });
    expect(polled).toEqual([7]);
  });

  it.each([
    ['while the instance stops', () => gate.drain(), { may: 'never', why: 'draining' }],
    ['without a call of the rate limits', () => (granted = false), { may: 'never', why: 'rate_limit' }],
    ['after a poll', () => (early = [5_000]), { may: 'not before', waitMs: 5_000, why: 'card_limit' }],
    ['after a poll meanwhile', () => (early = [0, 9]), { may: 'not before', waitMs: 9, why: 'card_limit' }],
  ])('is not polled %s', async (_, set, answer) => {
    set();
    expect(await ask()).toEqual(answer);
    expect(polled).toEqual([]);
  });

  it('is not polled when its lease is nearly over', async () => {
    expect(await ask(39)).toEqual({ may: 'never', why: 'no_time' });
    expect(await ask(40)).toEqual({ may: 'now' });
  });

  it('is polled again after a drain that was followed by a start', async () => {
    gate.drain();
    gate.open();
    expect(await ask()).toEqual({ may: 'now' });
  });
});
