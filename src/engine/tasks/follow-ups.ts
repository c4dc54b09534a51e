// The order of a call with an effect: gather what it has to wait for (a call of the rate limits, a connection, the permit of flow
// control), then claim the card, then send. So a claim is never older than its call, and a card is stopped at any rate above
// zero: where the rate is so slow that the poll is over first, the wait goes on without it. Used by package.ts and card-calls.ts.
//
// A wait that goes on is lost with the process: the next poll of the card begins a new one. A poll that would wait for long in its
// own time does not: its slot is for the next card. Otherwise a few hundred cards that wait for a slow rate would hold all slots.
import pLimit from 'p-limit';
import type { Card } from '../../domain/cards/card.ts';
import { type Gateway, GatewayError, type Pass } from '../../gateway/gateway.ts';
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CardReader } from '../work/card-reader.ts';
import type { Deadline } from '../work/task.ts';

export interface FollowUpDeps {
  readonly gateway: Gateway;
  readonly reader: Pick<CardReader, 'forget'>;
  /** Has the card polled again at once. */
  readonly again: (cardIds: readonly number[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A poll waits for its call in its own time if this is about as long as it takes. */
const QUICK_MS = 100;
/** Calls that wait although their polls are over; beyond that the next poll of the card asks again. */
const MOST_LATE = 10_000;

/** A call with an effect that follows from what a poll has found. @typeParam C the answer to its claim. */
interface FollowUp<C, R> {
  readonly name: 'stop' | 'start';
  readonly card: Card;
  /** Of the poll. */
  readonly deadline: Deadline;
  readonly claim: () => Promise<C>;
  /** Acts on the claim. The pass is given back unless it is used. */
  readonly act: (claim: C, means: Means) => Promise<R>;
}

/** What a claimed call is made with. */
export interface Means {
  readonly pass: Pass;
  readonly deadline: Deadline;
  /** The poll is over, and what it found may be older than a call that another poll has made. */
  readonly isLate: boolean;
  /** Gathers for the status that is asked after the call. */
  readonly gatherStatus: () => Promise<{ readonly pass: Pass; readonly timeoutMs: number }>;
}

/** The calls of one interface that wait for the rate limits or a connection: one after the other. */
class Line {
  readonly turn = pLimit(1);
  waiting = 0;
  #tookMs = 0;
  #askedAt: number | null = null;

  constructor(private readonly clock: Clock) {}

  /** About how long the next one will wait. */
  get waitMs(): number {
    const asksMs = this.#askedAt === null ? 0 : this.clock.monotonic() - this.#askedAt;
    return this.waiting * Math.max(this.#tookMs, asksMs);
  }

  async gather<T>(ask: () => Promise<T>): Promise<T> {
    const askedAt = this.clock.monotonic();
    this.#askedAt = askedAt;
    try {
      return await ask();
    } finally {
      this.#tookMs = this.clock.monotonic() - askedAt;
      this.#askedAt = null;
      this.waiting -= 1;
    }
  }
}

export class FollowUps {
  readonly #lines: Readonly<Record<FollowUp<never, never>['name'], Line>>;
  /** Cards whose calls wait although their polls are over. */
  readonly #late = new Map<number, Promise<void>>();
  #ending = new AbortController();

  constructor(private readonly deps: FollowUpDeps) {
    this.#lines = { stop: new Line(deps.clock), start: new Line(deps.clock) };
  }

  /** @returns what `act` returns; null: the time of the poll is over, or would be, and the call waits on. */
  async make<C, R>({ name, card, deadline, claim, act }: FollowUp<C, R>): Promise<R | null> {
    if (this.#late.has(card.cardId)) return null;
    if (deadline.remainingMs() <= 0)
      throw new GatewayError('held', 'the lease was over before the claim', { interfaceName: name });
    const line = this.#lines[name];
    const isLong = line.waitMs > QUICK_MS;
    if (isLong && this.#late.size >= MOST_LATE) return null;
    const { gateway } = this.deps;
    const { signal } = this.#ending;
    let hasPass = false;
    let gathered = () => {};
    const gathering = new Promise<void>((resolve) => {
      gathered = resolve;
    });
    const gather = async () => {
      const pass = await line.gather(() => gateway.gather(name, Number.POSITIVE_INFINITY, signal));
      hasPass = true;
      gathered();
      return pass;
    };
    const claimWith = async (pass: Pass) => {
      try {
        return { pass, answer: await claim() };
      } catch (error) {
        pass.giveBack();
        throw error;
      }
    };
    line.waiting += 1;
    // Claims of stops of the whole fleet take turns in the database. One of this instance at a time waits there, so that the
    // others hold no connection meanwhile: after a large release hundreds of cards are claimed at once.
    const claimed =
      name === 'stop' ? line.turn(async () => claimWith(await gather())) : line.turn(gather).then(claimWith);
    const carryOut = async (isLate: boolean) => {
      const { pass, answer } = await claimed;
      const until = isLate ? deadline.again() : deadline;
      const gatherStatus = async () => {
        // Half of the time that is left is for the call.
        const withinMs = isLate ? Number.POSITIVE_INFINITY : until.remainingMs() / 2;
        const pass = await gateway.gather('card_status', withinMs, signal);
        return { pass, timeoutMs: (isLate ? until.again() : until).remainingMs() };
      };
      return act(answer, { pass, deadline: until, isLate, gatherStatus }).finally(() => pass.giveBack());
    };
    const isInTime = !isLong && (await deadline.allows(Promise.race([gathering, claimed])));
    if (isInTime || hasPass) return carryOut(false);
    this.#keep(card, carryOut(true));
    return null;
  }

  /** Ends the waits, and waits for the calls that are being made. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#late.values());
    this.#ending = new AbortController();
  }

  #keep({ cardId, iccid }: Card, made: Promise<unknown>): void {
    const { reader, again, log } = this.deps;
    const { signal } = this.#ending;
    const ended = made
      .then(() => reader.forget([cardId]))
      .catch(async (error: unknown) => {
        if (signal.aborted) return;
        log.warn({ card_id: cardId, iccid, reason: messageOf(error) }, 'late call failed');
        await again([cardId]);
      })
      // Its ring or the next reading makes the card due.
      .catch((error: unknown) => log.warn({ card_id: cardId, reason: messageOf(error) }, 'late call lost'))
      .finally(() => this.#late.delete(cardId));
    this.#late.set(cardId, ended);
  }
}
