// Polls the cards of one task type: claims what is due, has it polled (card-poller.ts), gives slots back, hands results
// to the writer. One Worker a type and instance; any number of instances share the queue and the limit.
//
// A turn sends the slots that became free since the last turn and claims anew, in one round trip. Items run on their
// own; a turn never waits for them. Between turns the worker rests until one of its own calls ends (limit reached), for a
// few tens of milliseconds (others hold the slots), or longer and longer, until the store tells of work (nothing due).
import type { Card } from '../../domain/cards/card.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import type { FlowControl } from '../../gateway/gateway.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type { WorkItem, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { FleetClock } from '../fleet-clock.ts';
import type { FinishedItem, ResultWriter } from '../results/result-writer.ts';
import type { StatsRecorder } from '../stats/stats-recorder.ts';
import { CardPoller } from './card-poller.ts';
import type { CardReader } from './card-reader.ts';
import { Deadline } from './deadline.ts';
import { failureNoteOf, NO_RETRY, type Retry, retryOf } from './failed-poll.ts';
import type { Task } from './task.ts';

/** Nothing due: how soon to look again at first, and twice as long each time, unless the store tells of work. */
const FIRST_IDLE_REST_MS = 25;
/** A message lost, a lease that ended, a retry that is due: all are seen after this long at most. */
const MAX_IDLE_REST_MS = 1_000;
/** The limit is reached: own calls that end cut this rest short, others' are seen after it. */
const FULL_REST_MS = 25;
/** Calls that end within this time give their slots back, and are replaced, in one round trip. */
const GATHER_MS = 2;
/** Flow control or the writer hold work back. */
const HELD_REST_MS = 50;
/** The type is paused fleet-wide: how soon to look whether it still is. */
const PAUSED_REST_MS = 250;
/** No call starts with less time than this left. */
const MIN_BUDGET_MS = 20;
/** After cards could not be read (record store away) nothing is claimed for this long. */
const READ_FAILURE_REST_MS = 1_000;

/** What a poll came to. */
type Ending = Partial<Pick<FinishedItem, 'outcome' | 'failure'>> & { readonly retry?: Retry };

interface WorkerDeps {
  readonly task: Task;
  readonly instanceId: string;
  readonly work: Pick<WorkQueue, 'claim' | 'release' | 'pause' | 'onWork'>;
  readonly reader: CardReader;
  readonly writer: ResultWriter;
  readonly stats: StatsRecorder;
  readonly flow: FlowControl;
  readonly matcher: () => ConfigMatcher;
  readonly fleetClock: Pick<FleetClock, 'timeOf'>;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly claimBatch: number;
  readonly log: Logger;
  readonly onError: LoopErrorHandler;
}

export class Worker extends LoopService {
  readonly #running = new Set<Promise<void>>();
  readonly #poller: CardPoller;
  #freed: WorkItem[] = [];
  #inFlight = 0;
  /** Claims answered so far. */
  #claimNumber = 0;
  /** When the claim that has no answer yet was first sent; null when there is none. */
  #askedAt: number | null = null;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #draining = false;
  #pausedUntil = 0;
  #idleRestMs = FIRST_IDLE_REST_MS;
  /** The store told of work since the present turn began. */
  #workCame = false;
  #stopListening = () => {};
  #lastTurnAt: number;

  constructor(private readonly deps: WorkerDeps) {
    super(`worker-${deps.task.taskType}`, deps);
    this.#lastTurnAt = deps.clock.monotonic();
    this.#poller = new CardPoller(deps);
  }

  get taskType(): TaskType {
    return this.deps.task.taskType;
  }

  /** Items claimed and not yet given back. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Milliseconds for which the task type was paused still, when the store was last asked. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.deps.clock.monotonic());
  }

  /** Milliseconds since the claim loop last got an answer: what readiness and the watchdog look at. */
  get stalledMs(): number {
    return this.deps.clock.monotonic() - this.#lastTurnAt;
  }

  override async start(): Promise<void> {
    this.#draining = false;
    this.#stopListening();
    this.#stopListening = this.deps.work.onWork(this.deps.task.taskType, () => {
      this.#workCame = true;
      this.wake();
    });
    await super.start();
  }

  async runOnce(): Promise<number> {
    const { work, task, writer, flow, clock } = this.deps;
    this.#workCame = false;
    const released = this.#releaseFreed();
    const isHeld = clock.monotonic() < this.#heldUntil || this.deps.reader.holdsClaims;
    if (isHeld || writer.room < 1) return this.#hold(released);
    const interfaceName = TASKS[task.taskType].interface;
    const { calls, trickle } = flow.permit(interfaceName, this.#inFlight);
    const max = Math.min(this.deps.claimBatch, writer.room, calls);
    if (max < 1) return this.#hold(released);
    // A claim without an answer may yet be carried out: it is repeated under its number, so that what it took comes
    // to this worker. Its lease counts from the first attempt.
    this.#askedAt ??= clock.monotonic();
    const claimedAt = this.#askedAt;
    const { instanceId, leaseMs } = this.deps;
    const request = {
      instanceId,
      claimNumber: this.#claimNumber + 1,
      max,
      leaseMs,
      trickle,
    };
    // Both answers are waited for whatever the other one is: claimed items are begun even if the release failed.
    const [release, claim] = await Promise.allSettled([released, work.claim(task.taskType, request)]);
    if (claim.status === 'rejected') throw claim.reason;
    this.#claimNumber += 1;
    this.#askedAt = null;
    this.#lastTurnAt = clock.monotonic();
    const { items, claimedAtMs, freeSlots, pausedMs } = claim.value;
    this.#pausedUntil = clock.monotonic() + pausedMs;
    if (claimedAtMs !== null) {
      const atMs = this.deps.fleetClock.timeOf(claimedAtMs, claimedAt);
      this.#begin(items, new Deadline(clock, claimedAt, leaseMs, atMs));
    }
    if (freeSlots === 0 && pausedMs === 0) {
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

  /** Stops claiming, lets calls in flight end and gives their slots back. */
  override async stop(): Promise<void> {
    this.#draining = true;
    this.#stopListening();
    await super.stop();
    await Promise.all(this.#running);
    await this.#releaseFreed();
  }

  /** Claims nothing this turn: flow control, the writer or the record store hold work back. */
  async #hold(released: Promise<void>): Promise<number> {
    await released;
    this.#lastTurnAt = this.deps.clock.monotonic();
    return HELD_REST_MS;
  }

  /** What came while the turn was under way may have come after its claim: the next turn is at once. */
  #idleRest(claimed: boolean): number {
    if (claimed || this.#workCame) this.#idleRestMs = FIRST_IDLE_REST_MS;
    if (this.#workCame) return 0;
    const restMs = this.#idleRestMs;
    this.#idleRestMs = Math.min(MAX_IDLE_REST_MS, 2 * restMs);
    return restMs;
  }

  /** Gives back the slots of calls that ended; a failed release is tried again with the next turn. */
  async #releaseFreed(): Promise<void> {
    const items = this.#freed.splice(0);
    if (items.length === 0) return;
    try {
      await this.deps.work.release(this.deps.task.taskType, items);
    } catch (error) {
      this.#freed.push(...items);
      throw error;
    }
  }

  #begin(items: readonly WorkItem[], deadline: Deadline): void {
    this.#inFlight += items.length;
    this.deps.writer.reserve(items.length);
    const run = this.#runBatch(items, deadline);
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  async #runBatch(items: readonly WorkItem[], deadline: Deadline): Promise<void> {
    let cards: Map<number, Card>;
    try {
      cards = await this.deps.reader.read(items.map((item) => item.cardId));
    } catch (error) {
      this.#heldUntil = this.deps.clock.monotonic() + READ_FAILURE_REST_MS;
      this.deps.onError(error, READ_FAILURE_REST_MS);
      for (const item of items) this.#end(item, 'returned');
      return;
    }
    await Promise.all(items.map((item) => this.#run(item, cards.get(item.cardId) ?? null, deadline)));
  }

  async #run(item: WorkItem, card: Card | null, deadline: Deadline): Promise<void> {
    const manual = item.lane === 'manual';
    // The change feed takes a removed card out of its rings; here it only leaves the queue.
    if (card === null) return this.#end(item, manual ? 'failed' : 'done');
    const config = this.deps.matcher().match(this.deps.task.taskType, card);
    // A disabled config stops at once, also what it has in the queue. A manual poll is an operator's explicit wish.
    if (!manual && config?.status !== 1) return this.#end(item, 'done');
    if (this.#draining || deadline.remainingMs() < MIN_BUDGET_MS) return this.#end(item, 'returned');
    const poll = await this.#poller.poll(card, deadline);
    if ('outcome' in poll) return this.#end(item, 'done', { outcome: poll.outcome });
    const retry = retryOf(poll.error, (config?.intervalSeconds ?? 0) * 1_000);
    this.#end(item, 'failed', { retry, failure: failureNoteOf(poll.error, card.cardId, poll.durationMs) });
  }

  /** The item's call is over: its slot is free, its result goes to the writer. */
  #end(
    item: WorkItem,
    verdict: FinishedItem['verdict'],
    { outcome = null, failure = null, retry = NO_RETRY }: Ending = {},
  ): void {
    this.#inFlight -= 1;
    this.#freed.push(item);
    this.deps.writer.finish({
      taskType: this.deps.task.taskType,
      item,
      verdict,
      outcome,
      failure,
      retryCapMs: retry.capMs,
      waitMs: retry.waitMs,
    });
    if (this.#freed.length === 1) void this.deps.clock.sleep(GATHER_MS).then(() => this.wake());
  }
}
