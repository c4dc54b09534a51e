// Polls the cards of one task type: claims due cards, has them polled (card-poller.ts), gives slots back, and hands the
// results to the writer. Each instance has one Worker for each type; all instances share the queue and the limit.
//
// A turn sends the slots that became free since the last turn and claims again, in one round trip. Items run on their
// own; a turn never waits for them. Between two turns the worker rests: until one of its own calls ends (limit
// reached), for a few tens of milliseconds (other instances hold the slots), or longer and longer until the store
// signals work (nothing is due).
import type { Card } from '../../domain/cards/card.ts';
import type { CardsPerCall } from '../../domain/gateway-interface.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import type { FlowControl } from '../../gateway/gateway.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopMeans, LoopService } from '../../platform/loop.ts';
import type { Meter } from '../../platform/meter.ts';
import type { Claim, ClaimRequest, WorkItem, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { FleetClock } from '../fleet-clock.ts';
import type { CallPace } from '../limits/call-pace.ts';
import type { FinishedItem, ResultWriter } from '../results/result-writer.ts';
import type { StatsRecorder } from '../stats/stats-recorder.ts';
import type { CardPace } from './card-pace.ts';
import { CardPoller, failureNoteOf, retryOf } from './card-poller.ts';
import type { CardReader } from './card-reader.ts';
import { pollPaceOf } from './poll-pace.ts';
import { Deadline, type Task } from './task.ts';

/** First rest when nothing is due. It doubles each time until the store signals work. */
const FIRST_IDLE_REST_MS = 25;
/** Longest rest when nothing is due: a lost signal, an ended lease or a due retry is noticed within this time. */
const MAX_IDLE_REST_MS = 1_000;
/** Rest when the limit is reached. An own call that ends cuts it short; calls of other instances do not. */
const FULL_REST_MS = 25;
/** Calls that end within this time give their slots back, and are replaced, in one round trip. */
const GATHER_MS = 2;
/** Rest while flow control, the pace or the writer holds work back. */
const HELD_REST_MS = 50;
/** Rest while the task type is paused fleet-wide. */
const PAUSED_REST_MS = 250;
/** Rest while limits and pauses of record are not in force, which takes the leader a moment. */
const NOT_IN_FORCE_REST_MS = 100;
/** So often a worker that claims nothing makes sure that the slots of its calls are held. */
const KEEP_SLOTS_EVERY_MS = 500;
/** No call starts with less time left than this. */
const MIN_BUDGET_MS = 20;
/** Rest after cards could not be read (the record store is unavailable). */
const READ_FAILURE_REST_MS = 1_000;

interface WorkerDeps extends LoopMeans {
  readonly task: Task;
  readonly instanceId: string;
  readonly live: { readonly work: Pick<WorkQueue, 'claim' | 'hold' | 'release' | 'pause' | 'onWork'> };
  readonly meter: Pick<Meter, 'claimed'>;
  readonly reader: CardReader;
  readonly writer: ResultWriter;
  readonly stats: StatsRecorder;
  readonly flow: FlowControl;
  readonly cardsPerCall: CardsPerCall;
  /** Absent without a rate limit. */
  readonly pace?: Pick<CallPace, 'counts' | 'take'> | null;
  /** Absent unless the gateway limits the polls of one card: such a card is left to its ring when it fails. */
  readonly cardPace?: CardPace | null;
  readonly matcher: () => ConfigMatcher;
  readonly fleetClock: Pick<FleetClock, 'timeOf'>;
  readonly leaseMs: number;
  readonly claimBatch: number;
  readonly log: Logger;
}

const NONE: readonly string[] = [];

type ClaimPermit = Required<Pick<ClaimRequest, 'max' | 'trickle'>>;
/** What was claimed. `sentAt`: when the claim was first sent, by the monotonic clock. */
type Claimed = Claim & { readonly sentAt: number };

export class Worker extends LoopService<WorkerDeps> {
  readonly name = `worker-${this.taskType}`;
  // In another life of the live store its calls in flight count after this time, too (limits-in-force.ts).
  protected override readonly maxRetryMs = 1_000;
  readonly #poller = new CardPoller(this.deps);
  readonly #interface = TASKS[this.taskType].interface;
  readonly #pace = pollPaceOf(this.deps.pace, {
    ...{ taskType: this.taskType, interfaceName: this.#interface, clock: this.deps.clock },
    ready: () => this.deps.flow.ready(),
    cardsPerCall: this.deps.cardsPerCall(this.#interface),
    onGranted: () => this.wake(),
    onError: this.deps.onError,
  });
  #freed: WorkItem[] = [];
  readonly #inFlight = new Set<WorkItem>();
  /** Number of claims that were answered so far. */
  #claimNumber = 0;
  /** When the unanswered claim was first sent, by the monotonic clock; null when there is none. */
  #claimSentAt: number | null = null;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #draining = false;
  #pausedUntil = 0;
  #mayClaim = true;
  #slotsKeptAt = Number.NEGATIVE_INFINITY;
  #idleRestMs = FIRST_IDLE_REST_MS;
  /** True when the store has signalled work since the current turn began. */
  #workSignalled = false;
  #stopListening = () => {};
  /** Called when the last item in flight has ended. */
  #onIdle = () => {};
  #lastTurnAt = this.deps.clock.monotonic();

  get taskType(): TaskType {
    return this.deps.task.taskType;
  }

  /** Number of items claimed and not yet given back. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Milliseconds until the pause of the task type ends, as the store last answered; 0 without a pause. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.deps.clock.monotonic());
  }

  /** False while limits and pauses of record are not in force, as the store last answered. */
  get mayClaim(): boolean {
    return this.#mayClaim;
  }

  /** Milliseconds since the claim loop last got an answer; readiness and the watchdog use it. */
  get stalledMs(): number {
    return this.deps.clock.monotonic() - this.#lastTurnAt;
  }

  override async start(): Promise<void> {
    this.#draining = false;
    this.#stopListening();
    this.#stopListening = this.deps.live.work.onWork(this.deps.task.taskType, () => {
      this.#workSignalled = true;
      this.wake();
    });
    await super.start();
  }

  async runOnce(): Promise<number> {
    this.#workSignalled = false;
    const permit = this.#permit();
    if (permit === null) return this.#hold();
    const claimed = await this.#withFreed((released) => this.#claim(permit, released));
    this.#begin(claimed);
    if (!claimed.inForce) await this.#keepSlots();
    return this.#rest(permit, claimed);
  }

  /** Stops claiming, waits for the calls in flight, and gives their slots back. */
  override async stop(): Promise<void> {
    this.#draining = true;
    this.#pace?.stop();
    this.#stopListening();
    await super.stop();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.inFlight === 0) resolve();
    });
    await idle;
    await this.#releaseFreed();
  }

  /** How much may be claimed now; null: flow control, the pace, the writer or the record store holds work back. */
  #permit(): ClaimPermit | null {
    const { reader, writer, flow, clock, claimBatch } = this.deps;
    const room = Math.min(writer.room, this.#pace?.room ?? writer.room);
    if (clock.monotonic() < this.#heldUntil || reader.holdsClaims || room < 1) return null;
    const { calls, trickle } = flow.permit(this.#interface, this.inFlight);
    const max = Math.min(claimBatch, room, calls);
    return max < 1 ? null : { max, trickle };
  }

  /** A turn without a claim. */
  async #hold(): Promise<number> {
    await this.#releaseFreed();
    if (this.deps.clock.monotonic() - this.#slotsKeptAt >= KEEP_SLOTS_EVERY_MS) await this.#keepSlots();
    this.#lastTurnAt = this.deps.clock.monotonic();
    return HELD_REST_MS;
  }

  /**
   * A claim without an answer may still be carried out. It is repeated with the same number, so that this worker gets what the
   * first attempt took. Its lease counts from the first attempt.
   */
  async #claim({ max, trickle }: ClaimPermit, released: readonly WorkItem[]): Promise<Claimed> {
    const { live, instanceId, leaseMs, clock } = this.deps;
    this.#claimSentAt ??= clock.monotonic();
    const sentAt = this.#claimSentAt;
    const request = { instanceId, claimNumber: this.#claimNumber + 1, max, leaseMs, trickle, released };
    const claim = await live.work.claim(this.taskType, request);
    this.#claimNumber += 1;
    this.#claimSentAt = null;
    this.#lastTurnAt = clock.monotonic();
    this.#pausedUntil = this.#lastTurnAt + claim.pausedMs;
    this.#mayClaim = claim.inForce;
    this.#slotsKeptAt = this.#lastTurnAt;
    return { ...claim, sentAt };
  }

  /** In another life of the live store, whose limits count the calls in flight from before. */
  async #keepSlots(): Promise<void> {
    if (this.inFlight > 0) await this.deps.live.work.hold(this.taskType, [...this.#inFlight]);
    this.#slotsKeptAt = this.deps.clock.monotonic();
  }

  /** Starts what was claimed. */
  #begin(claimed: Claimed): void {
    const { meter, writer, fleetClock, clock, leaseMs } = this.deps;
    const { items, claimedAtMs, sentAt } = claimed;
    meter.claimed(this.taskType, claimed);
    if (claimedAtMs === null) return;
    for (const item of items) this.#inFlight.add(item);
    writer.reserve(items.length);
    this.#pace?.claimed(items);
    const deadline = new Deadline(clock, sentAt, leaseMs, fleetClock.timeOf(claimedAtMs, sentAt));
    void this.#runBatch(items, deadline);
  }

  /** @returns milliseconds until the next turn; room for it is made meanwhile. */
  #rest({ max, trickle }: ClaimPermit, { inForce, items, freeSlots, pausedMs }: Claimed): number {
    const { flow, stats } = this.deps;
    if (trickle && items.length === 0 && freeSlots > 0 && pausedMs === 0) flow.giveBack(this.#interface);
    // Slots of cards that wait for the rate limits say nothing about the limit of the task type.
    if (inForce && freeSlots === 0 && pausedMs === 0 && this.#pace?.isShort !== true) {
      stats.note(this.taskType, 'limitReached');
      flow.makeRoom(this.#interface);
    }
    if (items.length === max && !trickle) return 0;
    if (this.#freed.length > 0) return GATHER_MS;
    if (pausedMs > 0) return Math.min(pausedMs, PAUSED_REST_MS);
    if (!inForce) return NOT_IN_FORCE_REST_MS;
    if (freeSlots === 0) return FULL_REST_MS;
    return this.#idleRest(items.length > 0);
  }

  /** Work that was signalled during the turn may have come after its claim, so the next turn follows at once. */
  #idleRest(claimed: boolean): number {
    if (claimed || this.#workSignalled) this.#idleRestMs = FIRST_IDLE_REST_MS;
    if (this.#workSignalled) return 0;
    const restMs = this.#idleRestMs;
    this.#idleRestMs = Math.min(MAX_IDLE_REST_MS, 2 * restMs);
    return restMs;
  }

  async #releaseFreed(): Promise<void> {
    if (this.#freed.length === 0) return;
    await this.#withFreed((items) => this.deps.live.work.release(this.deps.task.taskType, items));
  }

  /** Gives back the slots of calls that ended. The next turn repeats what failed. */
  async #withFreed<T>(send: (items: readonly WorkItem[]) => Promise<T>): Promise<T> {
    const items = this.#freed.splice(0);
    try {
      return await send(items);
    } catch (error) {
      this.#freed.push(...items);
      throw error;
    }
  }

  async #runBatch(items: readonly WorkItem[], deadline: Deadline): Promise<void> {
    const { reader, cardPace } = this.deps;
    let cards: Map<number, Card>;
    try {
      cards = await reader.read(items.map((item) => item.cardId));
      if (cardPace) await cardPace.look(items);
    } catch (error) {
      this.#heldUntil = this.deps.clock.monotonic() + READ_FAILURE_REST_MS;
      this.deps.onError(error, READ_FAILURE_REST_MS);
      for (const item of items) this.#end(item, 'returned');
      return;
    }
    for (const item of items) void this.#run(item, cards.get(item.cardId) ?? null, deadline);
  }

  async #run(item: WorkItem, card: Card | null, deadline: Deadline): Promise<void> {
    const { cardPace = null } = this.deps;
    const manual = item.lane === 'manual';
    // The change feed takes a removed card out of its rings; here the card only leaves the queue.
    if (card === null) return this.#end(item, manual ? 'failed' : 'done');
    const config = this.deps.matcher().match(this.deps.task.taskType, card);
    // A disabled config stops at once, including its cards in the queue. Manual polls are explicitly asked for.
    if (!manual && config?.status !== 1) return this.#end(item, 'done');
    if (this.#draining || deadline.remainingMs() < MIN_BUDGET_MS) return this.#end(item, 'returned');
    const scheduledMs = (config?.intervalSeconds ?? 0) * 1_000;
    let retry = cardPace?.early(item, card, scheduledMs, deadline.nowMs());
    if (retry) return this.#end(item, 'early', retry);
    // Another trigger may poll the card meanwhile.
    if (this.#pace !== null && !(await this.#pace.turn(item, deadline))) return this.#end(item, 'returned');
    retry = cardPace?.early(item, card, scheduledMs, deadline.nowMs());
    if (retry) return this.#end(item, 'early', retry);
    cardPace?.polled(card.cardId);
    const poll = await this.#poller.poll(card, deadline);
    const alsoFor = cardPace?.triggersOf(item) ?? NONE;
    const intervalMs = cardPace !== null ? 0 : scheduledMs;
    // The writer retries a card like after a failed poll when it cannot write the outcome.
    if ('outcome' in poll)
      return this.#end(item, 'done', { ...retryOf(null, intervalMs), outcome: poll.outcome, alsoFor });
    const failure = failureNoteOf(poll.error, card.cardId, poll.durationMs);
    this.#end(item, 'failed', { ...retryOf(poll.error, intervalMs), failure, alsoFor });
  }

  /** The item's call has ended: frees its slot and hands its result to the writer. */
  #end(item: WorkItem, verdict: FinishedItem['verdict'], ending: Partial<FinishedItem> = {}): void {
    const { outcome = null, failure = null, alsoFor = NONE, retryCapMs = 0, waitMs = 0 } = ending;
    this.#inFlight.delete(item);
    this.#pace?.ended(item);
    this.#freed.push(item);
    const { taskType } = this;
    this.deps.writer.finish({ taskType, item, verdict, outcome, failure, retryCapMs, waitMs, alsoFor });
    if (this.inFlight === 0) this.#onIdle();
    if (this.#freed.length === 1) void this.deps.clock.sleep(GATHER_MS).then(() => this.wake());
  }
}
