// Whether a worker may claim cards, and whether a claimed card may be polled. This is the one place that holds polls back, and
// it has one reason at a time. It asks five parts in turn: the result writer, the reader of cards, the pace of the rate limits
// (poll-pace.ts), flow control (gateway/flow), and the limit of polls of one card (card-pace.ts). Used by worker.ts for claims
// and by poll.ts for cards.
import type { Card } from '../../domain/cards/card.ts';
import type { PollHold } from '../../domain/schedule/poll-hold.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import type { FlowControl } from '../../gateway/gateway.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Claim, ClaimRequest, WorkItem } from '../../store/ports/live/work-queue.ts';
import type { ResultWriter } from '../results/result-writer.ts';
import type { CardPace } from './card-pace.ts';
import type { CardReader } from './card-reader.ts';
import type { PollPace } from './poll-pace.ts';
import type { Deadline } from './task.ts';

/** A gate that is shut for claims is asked again after this long. */
const HELD_REST_MS = 50;
/** No call starts with less time left than this. */
const MIN_BUDGET_MS = 20;
/** A hold is shown when it has lasted this long: a busy worker is held back for some milliseconds all the time. */
const SHOWN_AFTER_MS = 1_000;

export type ClaimPermit = Required<Pick<ClaimRequest, 'max' | 'trickle'>>;

/** May it be done: now; not before `waitMs` milliseconds from now; or never with this claim. */
type PollAnswer = Now | NotBefore | { readonly may: 'never'; readonly why: PollHold };

interface Now {
  readonly may: 'now';
}

interface NotBefore {
  readonly may: 'not before';
  readonly waitMs: number;
  readonly why: PollHold;
}

interface GateDeps {
  readonly taskType: TaskType;
  readonly writer: Pick<ResultWriter, 'room'>;
  readonly reader: Pick<CardReader, 'holdsClaims'>;
  readonly flow: Pick<FlowControl, 'permit'>;
  /** null without a rate limit for the calls of the task type. */
  readonly pace: PollPace | null;
  /** null unless the gateway limits the polls of one card. */
  readonly cardPace: CardPace | null;
  readonly claimBatch: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

export class Gate {
  #isDraining = false;
  /** Monotonic clock, like the other times. */
  #unreadUntil = Number.NEGATIVE_INFINITY;
  #pausedUntil = 0;
  #isInForce = true;
  /** Why claims get nothing, and since when; null: they may get something. */
  #held: { readonly why: PollHold; readonly since: number } | null = null;

  constructor(private readonly deps: GateDeps) {}

  /** @param inFlight claimed cards of this worker whose polls have not ended. */
  claim(inFlight: number): (Now & ClaimPermit) | NotBefore {
    const { taskType, writer, pace, flow, claimBatch } = this.deps;
    const shut = this.#shut();
    if (shut !== null) return this.#hold(shut);
    // Asked last: a permit for the trickle is used up by the question.
    const { calls, trickle } = flow.permit(TASKS[taskType].interface, inFlight);
    const max = Math.min(claimBatch, writer.room, pace?.room ?? claimBatch, calls);
    return max < 1 ? this.#hold('interface') : { may: 'now', max, trickle };
  }

  /** What the live store answered to a claim. */
  claimed({ items, pausedMs, inForce }: Pick<Claim, 'items' | 'pausedMs' | 'inForce'>): void {
    this.#pausedUntil = this.deps.clock.monotonic() + pausedMs;
    this.#isInForce = inForce;
    this.deps.pace?.claimed(items);
    if (!inForce) this.#note('not_in_force');
    else if (pausedMs > 0) this.#note('paused');
    else this.#held = null;
  }

  /** Cards could not be read: none are claimed for as long. */
  unread(forMs: number): void {
    this.#unreadUntil = this.deps.clock.monotonic() + forMs;
  }

  /** Whether this card may be polled. It waits for a call of the rate limits: after `now` the call is made at once. */
  async card(item: WorkItem, card: Card, intervalMs: number, deadline: Deadline): Promise<PollAnswer> {
    const { pace, cardPace } = this.deps;
    const early = () => cardPace?.early(item, card, intervalMs, deadline.nowMs()) ?? 0;
    if (this.#isDraining) return { may: 'never', why: 'draining' };
    if (deadline.remainingMs() < MIN_BUDGET_MS) return { may: 'never', why: 'no_time' };
    let waitMs = early();
    if (waitMs === 0 && pace !== null) {
      if (!(await pace.turn(item, deadline))) return { may: 'never', why: 'rate_limit' };
      // Another trigger may have polled the card meanwhile.
      waitMs = early();
    }
    if (waitMs > 0) return { may: 'not before', waitMs, why: 'card_limit' };
    cardPace?.polled(card.cardId);
    return NOW;
  }

  /** The item's poll has ended, or it was not polled. */
  ended(item: WorkItem): void {
    this.deps.pace?.ended(item);
  }

  /** Cards are polled again, after drain(). */
  open(): void {
    this.#isDraining = false;
  }

  /** Cards that wait for the rate limits are returned, and none is polled any more. */
  drain(): void {
    this.#isDraining = true;
    this.deps.pace?.stop();
  }

  /** True while claimed cards wait for calls of the rate limits. */
  get waitsForCalls(): boolean {
    return this.deps.pace?.isShort === true;
  }

  /** Milliseconds until the pause of the task type ends, as the live store last answered; 0 without a pause. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.deps.clock.monotonic());
  }

  /** False while limits and pauses of record are not in force, as the live store last answered. */
  get isInForce(): boolean {
    return this.#isInForce;
  }

  /** Why claims have got nothing for a second or longer; null: they get what is due. */
  get hold(): PollHold | null {
    if (this.#held === null) return null;
    return this.deps.clock.monotonic() - this.#held.since < SHOWN_AFTER_MS ? null : this.#held.why;
  }

  #shut(): PollHold | null {
    const { writer, reader, pace, clock } = this.deps;
    if (clock.monotonic() < this.#unreadUntil || reader.holdsClaims) return 'cards_unread';
    if (writer.room < 1) return 'results_wait';
    if (pace !== null && pace.room < 1) return 'rate_limit';
    return null;
  }

  #hold(why: PollHold): NotBefore {
    this.#note(why);
    return { may: 'not before', waitMs: HELD_REST_MS, why };
  }

  #note(why: PollHold): void {
    if (this.#held?.why !== why) this.#held = { why, since: this.deps.clock.monotonic() };
  }
}

const NOW: Now = { may: 'now' };
