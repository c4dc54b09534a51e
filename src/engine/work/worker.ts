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
import type { WorkItem, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { FleetClock } from '../fleet-clock.ts';
import type { CallPace } from '../limits/call-pace.ts';
import type { FinishedItem, ResultWriter } from '../results/result-writer.ts';
import type { StatsRecorder } from '../stats/stats-recorder.ts';
import type { CardPace } from './card-pace.ts';
import { CardPoller, failureNoteOf, NO_RETRY, retryOf } from './card-poller.ts';
import type { CardReader } from './card-reader.ts';
import { PollPace } from './poll-pace.ts';
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
/** No call starts with less time left than this. */
const MIN_BUDGET_MS = 20;
/** Rest after cards could not be read (the record store is unavailable). */
const READ_FAILURE_REST_MS = 1_000;
/** The poll of a card with an order is retried for so long, whatever its interval is; then the leader makes it due again. */
const ORDER_RETRIED_MS = 60_000;

/** Nothing came of a poll, or it was not made. */
const NO_RESULT = { ...NO_RETRY, outcome: null, failure: null };

interface WorkerDeps extends LoopMeans {
  readonly task: Task;
  readonly instanceId: string;
  readonly live: { readonly work: Pick<WorkQueue, 'claim' | 'release' | 'pause' | 'onWork'> };
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

export class Worker extends LoopService<WorkerDeps> {
  readonly name = `worker-${this.taskType}`;
  readonly #running = new Set<Promise<void>>();
  readonly #poller = this.#makePoller();
  /** null without a rate limit. */
  readonly #pace = this.#makePace();
  #freed: WorkItem[] = [];
  #inFlight = 0;
  /** Number of claims that were answered so far. */
  #claimNumber = 0;
  /** When the unanswered claim was first sent, by the monotonic clock; null when there is none. */
  #claimSentAt: number | null = null;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #draining = false;
  #pausedUntil = 0;
  #idleRestMs = FIRST_IDLE_REST_MS;
  /** True when the store has signalled work since the current turn began. */
  #workSignalled = false;
  #stopListening = () => {};
  #lastTurnAt = this.deps.clock.monotonic();

  get taskType(): TaskType {
    return this.deps.task.taskType;
  }

  /** Number of items claimed and not yet given back. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Milliseconds until the pause of the task type ends, as the store last answered; 0 without a pause. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.deps.clock.monotonic());
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
    const { live, task, writer, flow, clock } = this.deps;
    this.#workSignalled = false;
    const released = this.#releaseFreed();
    const isHeld = clock.monotonic() < this.#heldUntil || this.deps.reader.holdsClaims;
    const room = Math.min(writer.room, this.#pace?.room ?? writer.room);
    if (isHeld || room < 1) return this.#hold(released);
    const interfaceName = TASKS[task.taskType].interface;
    const { calls, trickle } = flow.permit(interfaceName, this.#inFlight);
    const max = Math.min(this.deps.claimBatch, room, calls);
    if (max < 1) return this.#hold(released);
    // A claim without an answer may still be carried out. It is repeated with the same number, so that this worker gets
    // what the first attempt took. Its lease counts from the first attempt.
    this.#claimSentAt ??= clock.monotonic();
    const claimedAt = this.#claimSentAt;
    const { instanceId, leaseMs } = this.deps;
    const request = { instanceId, claimNumber: this.#claimNumber + 1, max, leaseMs, trickle };
    // Waits for both answers even if one is an error: claimed items are started even if the release failed.
    const [release, claim] = await Promise.allSettled([released, live.work.claim(task.taskType, request)]);
    if (claim.status === 'rejected') throw claim.reason;
    this.#claimNumber += 1;
    this.#claimSentAt = null;
    this.#lastTurnAt = clock.monotonic();
    this.deps.meter.claimed(task.taskType, claim.value);
    const { items, claimedAtMs, freeSlots, pausedMs } = claim.value;
    this.#pausedUntil = clock.monotonic() + pausedMs;
    if (trickle && items.length === 0 && freeSlots > 0 && pausedMs === 0) flow.giveBack(interfaceName);
    if (claimedAtMs !== null) {
      const atMs = this.deps.fleetClock.timeOf(claimedAtMs, claimedAt);
      this.#begin(items, new Deadline(clock, claimedAt, leaseMs, atMs));
    }
    // Slots of cards that wait for the rate limits say nothing about the limit of the task type.
    if (freeSlots === 0 && pausedMs === 0 && this.#pace?.isShort !== true) {
      this.deps.stats.note(task.taskType, 'limitReached');
      flow.makeRoom(interfaceName);
    }
    if (release.status === 'rejected') throw release.reason;
    if (items.length === max && !trickle) return 0;
    if (this.#freed.length > 0) return GATHER_MS;
    if (pausedMs > 0) return Math.min(pausedMs, PAUSED_REST_MS);
    if (freeSlots === 0) return FULL_REST_MS;
    return this.#idleRest(items.length > 0);
  }

  /** Stops claiming, waits for the calls in flight, and gives their slots back. */
  override async stop(): Promise<void> {
    this.#draining = true;
    this.#pace?.stop();
    this.#stopListening();
    await super.stop();
    await Promise.all([...this.#running, this.deps.task.stop?.()]);
    await this.#releaseFreed();
  }

  #makePoller(): CardPoller {
    const { task, instanceId, live, stats, flow, log, clock, onError } = this.deps;
    return new CardPoller({ task, instanceId, live, stats, flow, log, clock, onError });
  }

  #makePace(): PollPace | null {
    const { task, flow, cardsPerCall, pace = null, clock, onError } = this.deps;
    const { taskType } = task;
    const { interface: interfaceName } = TASKS[taskType];
    if (pace?.counts(interfaceName) !== true) return null;
    return new PollPace({
      taskType,
      interfaceName,
      pace,
      ready: () => flow.ready(),
      cardsPerCall: cardsPerCall(interfaceName),
      clock,
      onGranted: () => this.wake(),
      onError,
    });
  }

  /** A turn without a claim: flow control, the pace, the writer or the record store holds work back. */
  async #hold(released: Promise<void>): Promise<number> {
    await released;
    this.#lastTurnAt = this.deps.clock.monotonic();
    return HELD_REST_MS;
  }

  /** Work that was signalled during the turn may have come after its claim, so the next turn follows at once. */
  #idleRest(claimed: boolean): number {
    if (claimed || this.#workSignalled) this.#idleRestMs = FIRST_IDLE_REST_MS;
    if (this.#workSignalled) return 0;
    const restMs = this.#idleRestMs;
    this.#idleRestMs = Math.min(MAX_IDLE_REST_MS, 2 * restMs);
    return restMs;
  }

  /** Gives back the slots of calls that ended. The next turn repeats a failed release. */
  async #releaseFreed(): Promise<void> {
    const items = this.#freed.splice(0);
    if (items.length === 0) return;
    try {
      await this.deps.live.work.release(this.deps.task.taskType, items);
    } catch (error) {
      this.#freed.push(...items);
      throw error;
    }
  }

  #begin(items: readonly WorkItem[], deadline: Deadline): void {
    this.#inFlight += items.length;
    this.deps.writer.reserve(items.length);
    this.#pace?.claimed(items);
    const run = this.#runBatch(items, deadline);
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
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
    await Promise.all(items.map((item) => this.#run(item, cards.get(item.cardId) ?? null, deadline)));
  }

  async #run(item: WorkItem, card: Card | null, deadline: Deadline): Promise<void> {
    const { cardPace = null } = this.deps;
    const manual = item.lane === 'manual';
    // The change feed takes a removed card out of its rings; here the card only leaves the queue.
    if (card === null) return this.#end(item, manual ? 'failed' : 'done');
    const config = this.deps.matcher().match(this.deps.task.taskType, card);
    const isOrdered = card.ordered && this.taskType === 'package';
    // A disabled config stops at once, including its cards in the queue. Manual polls and orders are explicitly asked for.
    if (!manual && !isOrdered && config?.status !== 1) return this.#end(item, 'done');
    if (this.#draining || deadline.remainingMs() < MIN_BUDGET_MS) return this.#end(item, 'returned');
    const scheduledMs = (config?.intervalSeconds ?? 0) * 1_000;
    const pacedBy = isOrdered && !manual ? null : cardPace;
    let retry = pacedBy?.early(item, card, scheduledMs, deadline.nowMs());
    if (retry) return this.#end(item, 'early', retry);
    if (this.#pace !== null && !(await this.#pace.turn(item, deadline))) return this.#end(item, 'returned');
    // Another trigger may have polled the card meanwhile.
    retry = pacedBy?.early(item, card, scheduledMs, deadline.nowMs());
    if (retry) return this.#end(item, 'early', retry);
    cardPace?.polled(card.cardId);
    const poll = await this.#poller.poll(card, deadline);
    const alsoFor = cardPace?.triggersOf(item) ?? [];
    const retriesMs = cardPace !== null ? 0 : scheduledMs;
    const intervalMs = isOrdered ? ORDER_RETRIED_MS : retriesMs;
    // The writer retries a card like after a failed poll when it cannot write the outcome.
    if ('outcome' in poll)
      return this.#end(item, 'done', { ...retryOf(null, intervalMs), outcome: poll.outcome, alsoFor });
    const failure = failureNoteOf(poll.error, card.cardId, poll.durationMs);
    this.#end(item, 'failed', { ...retryOf(poll.error, intervalMs), failure, alsoFor });
  }

  /** The item's call has ended: frees its slot and hands its result to the writer. */
  #end(item: WorkItem, verdict: FinishedItem['verdict'], ending: Partial<FinishedItem> = {}): void {
    this.#inFlight -= 1;
    this.#pace?.ended(item);
    this.#freed.push(item);
    this.deps.writer.finish({ ...NO_RESULT, ...ending, taskType: this.taskType, item, verdict });
    if (this.#freed.length === 1) void this.deps.clock.sleep(GATHER_MS).then(() => this.wake());
  }
}
