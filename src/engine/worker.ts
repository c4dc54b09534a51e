// Polls the cards of one task type: claims what is due, calls the gateway, gives slots back, hands results to the
// writer. One Worker a type and instance; any number of instances share the queue and the limit.
//
// A turn sends the slots that became free since the last turn and claims anew, in one round trip. Items run on their
// own; a turn never waits for them. Between turns the worker rests until one of its own calls ends (limit reached) or
// for a few tens of milliseconds (nothing due, or others hold the slots).
import type { Card } from '../domain/card.ts';
import { TASK_COMPLETED } from '../domain/log-phrases.ts';
import type { PollOutcome } from '../domain/poll-outcome.ts';
import type { ConfigMatcher } from '../domain/polling-config.ts';
import { type FlowControl, GatewayError } from '../gateway/gateway.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../platform/loop.ts';
import type { WorkItem, WorkQueue } from '../store/live-store.ts';
import type { CardReader } from './card-reader.ts';
import { Deadline } from './deadline.ts';
import type { FinishedItem, ResultWriter } from './result-writer.ts';
import type { StatsRecorder } from './stats-recorder.ts';
import type { Task } from './tasks/task.ts';

/** Nothing due: how soon to look again. A manual card waits this long at most. */
const IDLE_REST_MS = 25;
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
/** Pause of the type when the gateway asks for one without saying how long. */
const DEFAULT_BACKPRESSURE_MS = 1_000;
/** A card the gateway refuses is asked for again by its ring once its backoff reaches this. */
const REFUSED_RETRY_CAP_MS = 60_000;

export interface WorkerDeps {
  readonly task: Task;
  readonly workerId: string;
  readonly work: Pick<WorkQueue, 'claim' | 'release' | 'pause'>;
  readonly reader: CardReader;
  readonly writer: ResultWriter;
  readonly stats: StatsRecorder;
  readonly flow: FlowControl;
  /** Calls in flight of this instance, all task types: what flow control counts. */
  readonly totalInFlight: () => number;
  readonly matcher: () => ConfigMatcher;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly claimBatch: number;
  readonly log: Logger;
  readonly onError: LoopErrorHandler;
}

export class Worker extends LoopService {
  readonly #running = new Set<Promise<void>>();
  #freed: WorkItem[] = [];
  #inFlight = 0;
  /** Claims answered so far. */
  #claimNumber = 0;
  /** When the claim that has no answer yet was first sent; null when there is none. */
  #askedAt: number | null = null;
  #heldUntil = Number.NEGATIVE_INFINITY;
  #draining = false;
  #lastTurnAt: number;

  constructor(private readonly deps: WorkerDeps) {
    super(`worker-${deps.task.taskType}`, deps.onError);
    this.#lastTurnAt = deps.clock.monotonic();
  }

  /** Items claimed and not yet given back. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Milliseconds since the claim loop last got an answer: what readiness and the watchdog look at. */
  get stalledMs(): number {
    return this.deps.clock.monotonic() - this.#lastTurnAt;
  }

  async runOnce(): Promise<number> {
    const { work, task, writer, flow, clock } = this.deps;
    const released = this.#releaseFreed();
    const max = Math.min(this.deps.claimBatch, writer.room, flow.allowance(this.deps.totalInFlight()));
    if (max < 1 || clock.monotonic() < this.#heldUntil) {
      await released;
      this.#lastTurnAt = clock.monotonic();
      return HELD_REST_MS;
    }
    // A claim without an answer may yet be carried out: it is repeated under its number, so that what it took comes
    // to this worker. Its lease counts from the first attempt.
    this.#askedAt ??= clock.monotonic();
    const claimedAt = this.#askedAt;
    const { workerId, leaseMs } = this.deps;
    const request = { workerId, claimNumber: this.#claimNumber + 1, max, leaseMs };
    // Both answers are waited for whatever the other one is: claimed items are begun even if the release failed.
    const [release, claim] = await Promise.allSettled([released, work.claim(task.taskType, request)]);
    if (claim.status === 'rejected') throw claim.reason;
    this.#claimNumber += 1;
    this.#askedAt = null;
    this.#lastTurnAt = clock.monotonic();
    const { items, freeSlots, pausedMs } = claim.value;
    if (items.length > 0) this.#begin(items, claimedAt);
    if (release.status === 'rejected') throw release.reason;
    if (items.length === max) return 0;
    if (this.#freed.length > 0) return GATHER_MS;
    if (pausedMs > 0) return Math.min(pausedMs, PAUSED_REST_MS);
    return freeSlots === 0 ? FULL_REST_MS : IDLE_REST_MS;
  }

  /** Stops claiming, lets calls in flight end and gives their slots back. */
  override async stop(): Promise<void> {
    this.#draining = true;
    await super.stop();
    await Promise.all(this.#running);
    await this.#releaseFreed();
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

  #begin(items: readonly WorkItem[], claimedAt: number): void {
    this.#inFlight += items.length;
    this.deps.writer.reserve(items.length);
    const run = this.#runBatch(items, new Deadline(this.deps.clock, claimedAt, this.deps.leaseMs));
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
      for (const item of items) this.#end(item, 'returned', null, 0);
      return;
    }
    await Promise.all(items.map((item) => this.#run(item, cards.get(item.cardId) ?? null, deadline)));
  }

  async #run(item: WorkItem, card: Card | null, deadline: Deadline): Promise<void> {
    const manual = item.lane === 'manual';
    // The change feed takes a removed card out of its rings; here it only leaves the queue.
    if (card === null) return this.#end(item, manual ? 'failed' : 'done', null, 0);
    const config = this.deps.matcher().match(this.deps.task.taskType, card);
    // A disabled config stops at once, also what it has in the queue. A manual poll is an operator's explicit wish.
    if (!manual && config?.status !== 1) return this.#end(item, 'done', null, 0);
    if (this.#draining || deadline.remainingMs() < MIN_BUDGET_MS) return this.#end(item, 'returned', null, 0);
    const { outcome, refused } = await this.#poll(card, deadline);
    const intervalMs = (config?.intervalSeconds ?? 0) * 1_000;
    const retryCapMs = refused ? Math.min(intervalMs, REFUSED_RETRY_CAP_MS) : intervalMs;
    this.#end(item, outcome === null ? 'failed' : 'done', outcome, retryCapMs);
  }

  /** Polls one card, counts and logs it. @returns no outcome for a failed poll; `refused` when the card is the problem. */
  async #poll(card: Card, deadline: Deadline): Promise<{ outcome: PollOutcome | null; refused: boolean }> {
    const { task, clock, stats, flow, log } = this.deps;
    const startedAt = clock.monotonic();
    const tookMs = () => Math.round(clock.monotonic() - startedAt);
    try {
      const result = await task.poll(card, deadline);
      const durationMs = tookMs();
      flow.record('ok');
      stats.count(task.taskType, 'succeeded', durationMs);
      log.info(
        { card_id: card.cardId, iccid: card.iccid, ...result.fields, duration_ms: durationMs },
        TASK_COMPLETED[task.taskType],
      );
      return { outcome: result.outcome, refused: false };
    } catch (error) {
      const durationMs = tookMs();
      stats.count(task.taskType, 'failed', durationMs);
      this.#noteFailure(error, card, durationMs);
      return { outcome: null, refused: error instanceof GatewayError && error.isCardFault };
    }
  }

  #noteFailure(error: unknown, card: Card, durationMs: number): void {
    const { task, flow, log, work } = this.deps;
    const gatewayError = error instanceof GatewayError ? error : null;
    flow.record(flowOutcome(gatewayError));
    if (gatewayError?.failure === 'backpressure') {
      work
        .pause(task.taskType, gatewayError.details.retryAfterMs ?? DEFAULT_BACKPRESSURE_MS)
        .catch((cause: unknown) => this.deps.onError(cause, 0));
    }
    log.warn(
      {
        task_type: task.taskType,
        card_id: card.cardId,
        iccid: card.iccid,
        error: gatewayError?.failure ?? 'internal',
        reason: messageOf(error),
        duration_ms: durationMs,
      },
      'poll failed',
    );
  }

  /** The item's call is over: its slot is free, its result goes to the writer. */
  #end(
    item: WorkItem,
    verdict: FinishedItem['verdict'],
    outcome: FinishedItem['outcome'],
    retryCapMs: number,
  ): void {
    this.#inFlight -= 1;
    this.#freed.push(item);
    this.deps.writer.finish({
      taskType: this.deps.task.taskType,
      item,
      verdict,
      outcome,
      retryCapMs,
    });
    if (this.#freed.length === 1) setTimeout(() => this.wake(), GATHER_MS);
  }
}

/** A refusal of one card is an answer too: the gateway works. */
function flowOutcome(error: GatewayError | null): Parameters<FlowControl['record']>[0] {
  if (error?.isGatewayFault) return 'gateway_fault';
  return error?.isCardFault ? 'ok' : 'ignored';
}
