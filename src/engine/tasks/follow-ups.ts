// The order of a call with an effect: gather what it has to wait for (a call of the rate limits, a connection, the permit of flow
// control), then claim the card, then send. So a claim is never older than its call, and a card is stopped at any rate above
// zero: where the rate is so slow that the poll is over first, the wait goes on without it. Used by package.ts and card-calls.ts.
//
// A wait that goes on is lost with the process: the next poll of the card begins a new one.
import type { Card } from '../../domain/cards/card.ts';
import { type Gateway, GatewayError, type Pass } from '../../gateway/gateway.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CardReader } from '../work/card-reader.ts';
import type { Deadline } from '../work/task.ts';

export interface FollowUpDeps {
  readonly gateway: Gateway;
  readonly reader: Pick<CardReader, 'forget'>;
  /** Has the card polled again at once. */
  readonly again: (cardIds: readonly number[]) => Promise<void>;
  readonly log: Logger;
}

/** A call with an effect that follows from what a poll has found. @typeParam C the answer to its claim. */
interface FollowUp<C, R> {
  readonly name: 'stop' | 'start';
  readonly card: Card;
  /** Of the poll. */
  readonly deadline: Deadline;
  /** Claims in turn, gathering included, where many claims would wait for each other. */
  readonly turns?: <T>(run: () => Promise<T>) => Promise<T>;
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

export class FollowUps {
  /** Cards whose calls wait although their polls are over. */
  readonly #late = new Map<number, Promise<void>>();
  #ending = new AbortController();

  constructor(private readonly deps: FollowUpDeps) {}

  /** @returns what `act` returns; null: the time of the poll is over, and the call waits on. */
  async make<C, R>({ name, card, deadline, turns = at, claim, act }: FollowUp<C, R>): Promise<R | null> {
    if (this.#late.has(card.cardId)) return null;
    if (deadline.remainingMs() <= 0)
      throw new GatewayError('held', 'the lease was over before the claim', { interfaceName: name });
    const { gateway } = this.deps;
    const { signal } = this.#ending;
    let hasPass = false;
    let gathered = () => {};
    const gathering = new Promise<void>((resolve) => {
      gathered = resolve;
    });
    const claimed = turns(async () => {
      const pass = await gateway.gather(name, Number.POSITIVE_INFINITY, signal);
      hasPass = true;
      gathered();
      try {
        return { pass, answer: await claim() };
      } catch (error) {
        pass.giveBack();
        throw error;
      }
    });
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
    if ((await deadline.allows(Promise.race([gathering, claimed]))) || hasPass) return carryOut(false);
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

const at = <T>(run: () => Promise<T>): Promise<T> => run();
