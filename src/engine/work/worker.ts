// Claims the due cards of one task type, has them polled (poll.ts), gives slots back, and hands the verdicts to the result
// writer. gate.ts says when it may claim. Each instance has one Worker for each type; all instances share the queue and the limit.
//
// A turn sends the slots that became free since the last turn and claims again, in one round trip. Items run on their
// own; a turn never waits for them. Between two turns the worker rests: until one of its own calls ends (limit
// reached), for a few tens of milliseconds (other instances hold the slots), or longer and longer until the store
// signals work (nothing is due).
import type { CardsPerCall } from '../../domain/gateway-interface.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import type { FlowControl } from '../../gateway/gateway.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { Meter } from '../../platform/meter.ts';
import type { Claim, WorkItem, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { FleetClock } from '../fleet-clock.ts';
import type { CallPace } from '../limits/call-pace.ts';
import type { ResultWriter } from '../results/result-writer.ts';
import type { StatsRecorder } from '../stats/stats-recorder.ts';
import type { CardPace } from './card-pace.ts';
import type { CardReader } from './card-reader.ts';
import { type ClaimPermit, Gate } from './gate.ts';
import { Poller, type Verdict } from './poll.ts';
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
/** Rest while the task type is paused fleet-wide. */
const PAUSED_REST_MS = 250;
/** Rest while limits and pauses of record are not in force, which takes the leader a moment. */
const NOT_IN_FORCE_REST_MS = 100;
/** So often a worker that claims nothing makes sure that the slots of its calls are held. */
const KEEP_SLOTS_EVERY_MS = 500;

interface WorkerDeps extends LoopDeps {
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

/** What is handed to the writer about a card that was not polled. */
const UNPOLLED = { outcome: null, failure: null, retryCapMs: 0, waitMs: 0 };

/** What was claimed. `sentAt`: when the claim was first sent, by the monotonic clock. */
type Claimed = Claim & { readonly sentAt: number };

export class Worker extends LoopService<WorkerDeps> {
  readonly name = `worker-${this.taskType}`;
  // In another life of the live store its calls in flight count after this time, too (limits-in-force.ts).
  protected override readonly maxRetryMs = 1_000;
  readonly #interface = TASKS[this.taskType].interface;
  readonly #cardPace = this.deps.cardPace ?? null;
  readonly #gate = new Gate({
    ...this.deps,
    taskType: this.taskType,
    pace: pollPaceOf(this.deps.pace, {
      ...{ taskType: this.taskType, interfaceName: this.#interface, clock: this.deps.clock },
      ready: () => this.deps.flow.ready(),
      cardsPerCall: this.deps.cardsPerCall(this.#interface),
      onGranted: () => this.wake(),
      onError: this.deps.onError,
    }),
    cardPace: this.#cardPace,
  });
  readonly #poller = new Poller({ ...this.deps, gate: this.#gate, cardPace: this.#cardPace });
  #freed: WorkItem[] = [];
  readonly #inFlight = new Set<WorkItem>();
  /** Number of claims that were answered so far. */
  #claimNumber = 0;
  /** When the unanswered claim was first sent, by the monotonic clock; null when there is none. */
  #claimSentAt: number | null = null;
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

  /** What holds polls back. */
  get gate(): Pick<Gate, 'hold' | 'pausedMs' | 'isInForce'> {
    return this.#gate;
  }

  /** Milliseconds since the claim loop last got an answer; readiness and the watchdog use it. */
  get stalledMs(): number {
    return this.deps.clock.monotonic() - this.#lastTurnAt;
  }

  override async start(): Promise<void> {
    this.#gate.open();
    this.#stopListening();
    this.#stopListening = this.deps.live.work.onWork(this.deps.task.taskType, () => {
      this.#workSignalled = true;
      this.wake();
    });
    await super.start();
  }

  async runOnce(): Promise<number> {
    this.#workSignalled = false;
    const answer = this.#gate.claim(this.inFlight);
    if (answer.may !== 'now') return this.#hold(answer.waitMs);
    const claimed = await this.#withFreed((released) => this.#claim(answer, released));
    this.#begin(claimed);
    if (!claimed.inForce) await this.#keepSlots();
    return this.#rest(answer, claimed);
  }

  /** Stops claiming, waits for the calls in flight, and gives their slots back. */
  override async stop(): Promise<void> {
    this.#gate.drain();
    this.#stopListening();
    await super.stop();
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.inFlight === 0) resolve();
    });
    await idle;
    await this.#releaseFreed();
  }

  /** A turn without a claim. */
  async #hold(waitMs: number): Promise<number> {
    await this.#releaseFreed();
    if (this.deps.clock.monotonic() - this.#slotsKeptAt >= KEEP_SLOTS_EVERY_MS) await this.#keepSlots();
    this.#lastTurnAt = this.deps.clock.monotonic();
    return waitMs;
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
    this.#gate.claimed(claimed);
    if (claimedAtMs === null) return;
    for (const item of items) this.#inFlight.add(item);
    writer.reserve(items.length);
    const deadline = new Deadline(clock, sentAt, leaseMs, fleetClock.timeOf(claimedAtMs, sentAt));
    void this.#poller.batch(items, deadline, (item, verdict) => this.#end(item, verdict));
  }

  /** @returns milliseconds until the next turn; room for it is made meanwhile. */
  #rest({ max, trickle }: ClaimPermit, { inForce, items, freeSlots, pausedMs }: Claimed): number {
    const { flow, stats } = this.deps;
    if (trickle && items.length === 0 && freeSlots > 0 && pausedMs === 0) flow.giveBack(this.#interface);
    // Slots of cards that wait for the rate limits say nothing about the limit of the task type.
    if (inForce && freeSlots === 0 && pausedMs === 0 && !this.#gate.waitsForCalls) {
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

  /** The item's call has ended: frees its slot and hands its result to the writer. */
  #end(item: WorkItem, verdict: Verdict): void {
    this.#inFlight.delete(item);
    this.#gate.ended(item);
    this.#freed.push(item);
    this.deps.writer.finish({ ...UNPOLLED, taskType: this.taskType, item, ...verdict });
    if (this.inFlight === 0) this.#onIdle();
    if (this.#freed.length === 1) void this.deps.clock.sleep(GATHER_MS).then(() => this.wake());
  }
}
