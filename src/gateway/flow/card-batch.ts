// Gathers the calls for cards into batches: one for each interface that the profile calls in batches. Used by flow-control.ts,
// which makes the call. A batch that is not full waits a few milliseconds for more cards.
//
// A whole call may fail because of one card: the batch is then split in half, repeatedly, until that card is alone. From then on
// such a card is called alone until a call succeeds, so that it does not spoil every batch. Against a gateway that refuses every
// call, few batches are split while nothing succeeds. Both halves are called at the same time: in sequence, the fifteen calls for
// a batch of a hundred exceeded a card's time on a slow gateway.
//
// Slots, leases, limits, statistics and log lines count cards; throttle, rate limits and metrics of gateway calls count calls.
import type { Clock } from '../../platform/clock.ts';
import { messageOf } from '../../platform/errors.ts';
import { type CalledCard, type GatewayAnswer, GatewayError, type Pass } from '../gateway.ts';

/** Cards of one claim come together; the wait is for the next claim, and for calls that follow polls. */
const WAIT_MS = 15;
/** Within this time after a success, a failed call does not mean that the gateway fails. */
const WORKS_WITHIN_MS = 10_000;
/** Batches that are split per window while no call succeeds. */
const SPLITS = 20;
const SPLITS_WITHIN_MS = 60_000;
/** A card with less than this share of the others' time is called alone: a batch would end with its time. */
const HURRIED_SHARE = 0.5;
/** No call is made with less time left than this. */
const LEAST_TIME_MS = 20;
/** Most cards that are called alone. Beyond it the oldest are dropped, and found again if they still fail. */
const MAX_ALONE = 10_000;

/** A card's own answer. */
type CardAnswer = GatewayAnswer | GatewayError;

/** Makes calls for batches. */
interface BatchCalls {
  /** @param pass absent: the call was granted before. */
  send(cards: readonly CalledCard[], timeoutMs: number, pass?: Pass): Promise<readonly CardAnswer[]>;
  gather(withinMs: number): Promise<Pass>;
}

interface Waiting {
  readonly card: CalledCard;
  readonly endsAt: number;
  /** Absent: the call of this card was granted before. */
  readonly pass: Pass | undefined;
  readonly resolve: (answer: GatewayAnswer) => void;
  readonly reject: (error: unknown) => void;
}

export class CardBatch {
  #waiting: Waiting[] = [];
  readonly #alone = new Set<number>();
  #succeededAt = Number.NEGATIVE_INFINITY;
  #splitSinceMs = Number.NEGATIVE_INFINITY;
  #splits = 0;

  constructor(
    private readonly size: number,
    private readonly clock: Clock,
    private readonly calls: BatchCalls,
  ) {}

  call(card: CalledCard, timeoutMs: number, pass?: Pass): Promise<GatewayAnswer> {
    const endsAt = this.clock.monotonic() + timeoutMs;
    return new Promise((resolve, reject) => {
      const waiting = { card, endsAt, pass, resolve, reject };
      if (this.#alone.has(card.cardId)) void this.#callAgain([waiting], null, pass);
      else this.#gather(waiting);
    });
  }

  #gather(waiting: Waiting): void {
    this.#waiting.push(waiting);
    if (this.#waiting.length >= this.size) this.#flush();
    else if (this.#waiting.length === 1) {
      const group = this.#waiting;
      void this.clock.sleep(WAIT_MS).then(() => {
        if (this.#waiting === group) this.#flush();
      });
    }
  }

  #flush(): void {
    const now = this.clock.monotonic();
    const longestMs = Math.max(...this.#waiting.map(({ endsAt }) => endsAt)) - now;
    const isHurried = ({ endsAt }: Waiting) => endsAt - now < HURRIED_SHARE * longestMs;
    for (const waiting of this.#waiting.filter(isHurried))
      void this.#callAgain([waiting], null, waiting.pass);
    const group = this.#waiting.filter((waiting) => !isHurried(waiting));
    this.#waiting = [];
    // The time of every card is over.
    if (group.length === 0) return;
    // A call that was granted for one of the cards takes the others along.
    const pass = group.every((waiting) => waiting.pass !== undefined) ? group[0]?.pass : undefined;
    for (const waiting of group) if (waiting.pass !== pass) waiting.pass?.giveBack();
    void this.#make(group, pass);
  }

  async #make(group: readonly Waiting[], pass?: Pass): Promise<void> {
    try {
      const cards = group.map(({ card }) => card);
      const answers = await this.calls.send(cards, this.#leftMs(group), pass);
      this.#succeededAt = this.clock.monotonic();
      for (const [i, waiting] of group.entries()) this.#end(waiting, answers[i]);
    } catch (error) {
      if (group.length > 1 && this.#maySplit(error)) {
        const middle = group.length >> 1;
        const halves = [group.slice(0, middle), group.slice(middle)];
        await Promise.all(halves.map((half) => this.#callAgain(half, error)));
        return;
      }
      const [only] = group;
      if (group.length === 1 && only !== undefined && this.#works && mayBeOneCard(error))
        this.#noteAlone(only.card);
      for (const { reject } of group) reject(error);
    }
  }

  /**
   * Calls half of a batch, or a single card; no claim has granted this call. Without time left no card is blamed for the failed
   * batch, and all are retried soon. @param because error of the batch.
   */
  async #callAgain(group: readonly Waiting[], because: unknown, given?: Pass): Promise<void> {
    const leftMs = this.#leftMs(group);
    const why =
      because === null ? '' : ` that would find the card that made a call fail: ${messageOf(because)}`;
    try {
      if (leftMs < LEAST_TIME_MS) throw new GatewayError('held', `no time was left for the call${why}`);
      // Half of the remaining time is for the call.
      const pass = given ?? (await this.calls.gather(leftMs / 2));
      return await this.#make(group, pass);
    } catch (error) {
      given?.giveBack();
      for (const { reject } of group) reject(error);
    }
  }

  #leftMs(group: readonly Waiting[]): number {
    return Math.min(...group.map(({ endsAt }) => endsAt)) - this.clock.monotonic();
  }

  #end({ card, resolve, reject }: Waiting, answer: CardAnswer | undefined): void {
    if (answer === undefined || answer instanceof Error) {
      reject(answer);
    } else {
      this.#alone.delete(card.cardId);
      resolve(answer);
    }
  }

  get #works(): boolean {
    return this.clock.monotonic() - this.#succeededAt < WORKS_WITHIN_MS;
  }

  #maySplit(error: unknown): boolean {
    if (!mayBeOneCard(error)) return false;
    if (this.#works) return true;
    if (!error.isCardFault) return false;
    const now = this.clock.monotonic();
    if (now - this.#splitSinceMs >= SPLITS_WITHIN_MS) {
      this.#splitSinceMs = now;
      this.#splits = 0;
    }
    this.#splits += 1;
    return this.#splits <= SPLITS;
  }

  #noteAlone({ cardId }: CalledCard): void {
    this.#alone.add(cardId);
    const [oldest] = this.#alone;
    if (this.#alone.size > MAX_ALONE && oldest !== undefined) this.#alone.delete(oldest);
  }
}

/** Overload, credentials and the network never concern a single card. */
function mayBeOneCard(error: unknown): error is GatewayError {
  return (
    error instanceof GatewayError &&
    (error.isCardFault || error.failure === 'http' || error.failure === 'malformed')
  );
}
