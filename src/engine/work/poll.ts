// One poll, from a claimed card to its verdict: read the card, ask the gate, have the task call the gateway, count and log what
// came of it. Used by worker.ts, which claims cards and hands verdicts to the result writer.
import type { Card } from '../../domain/cards/card.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { TASKS } from '../../domain/task-type.ts';
import { type FlowControl, GatewayError } from '../../gateway/gateway.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { infoLine, type Logger } from '../../platform/logger.ts';
import type { LoopDeps } from '../../platform/loop.ts';
import type { FailureNote } from '../../store/ports/live/poll-stats.ts';
import type { WorkItem, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { FinishedItem } from '../results/result-writer.ts';
import type { StatsRecorder } from '../stats/stats-recorder.ts';
import type { CardPace } from './card-pace.ts';
import type { CardReader } from './card-reader.ts';
import type { Gate } from './gate.ts';
import type { Deadline, Task, TaskResult } from './task.ts';

/** Once its backoff reaches this, a failed card is left to its ring. */
const RETRY_CAP_MS = 60_000;
/** Claims wait for this long after cards could not be read: the record store is unavailable. */
const READ_FAILURE_REST_MS = 1_000;
/** Characters kept of an error message: a gateway may answer with a page of HTML. */
const MAX_MESSAGE = 200;

/** How a claimed card ended, for the result writer. */
export type Verdict = Pick<FinishedItem, 'verdict'> &
  Partial<Pick<FinishedItem, 'outcome' | 'failure' | 'retryCapMs' | 'waitMs' | 'alsoFor'>>;

const NONE: readonly string[] = [];
const DONE: Verdict = { verdict: 'done' };
const FAILED: Verdict = { verdict: 'failed' };
const RETURNED: Verdict = { verdict: 'returned' };

interface PollerDeps extends LoopDeps {
  readonly task: Task;
  readonly instanceId: string;
  readonly live: { readonly work: Pick<WorkQueue, 'pause'> };
  readonly reader: Pick<CardReader, 'read'>;
  readonly gate: Pick<Gate, 'unread' | 'card'>;
  /** null unless the gateway limits the polls of one card. */
  readonly cardPace: Pick<CardPace, 'look' | 'triggersOf'> | null;
  readonly matcher: () => ConfigMatcher;
  readonly stats: StatsRecorder;
  readonly flow: Pick<FlowControl, 'refusesAll'>;
  readonly log: Logger;
}

export class Poller {
  readonly #logCompleted;

  constructor(private readonly deps: PollerDeps) {
    this.#logCompleted = infoLine(deps.log, TASKS[deps.task.taskType].completed);
  }

  /** Polls the cards of a claim, each on its own. @param end is called once for each item, in any order. */
  async batch(
    items: readonly WorkItem[],
    deadline: Deadline,
    end: (item: WorkItem, verdict: Verdict) => void,
  ): Promise<void> {
    const { reader, gate, cardPace, onError } = this.deps;
    let cards: Map<number, Card>;
    try {
      cards = await reader.read(items.map((item) => item.cardId));
      if (cardPace !== null) await cardPace.look(items);
    } catch (error) {
      gate.unread(READ_FAILURE_REST_MS);
      onError(error, READ_FAILURE_REST_MS);
      for (const item of items) end(item, RETURNED);
      return;
    }
    for (const item of items)
      void this.poll(item, cards.get(item.cardId) ?? null, deadline).then((verdict) => end(item, verdict));
  }

  /** @param card null: it does not exist any more. */
  async poll(item: WorkItem, card: Card | null, deadline: Deadline): Promise<Verdict> {
    const { task, gate, matcher, cardPace, stats, clock } = this.deps;
    const isManual = item.lane === 'manual';
    // The change feed takes a removed card out of its rings; here the card only leaves the queue.
    if (card === null) return isManual ? FAILED : DONE;
    const config = matcher().match(task.taskType, card);
    // A disabled config stops at once, including its cards in the queue. Manual polls are explicitly asked for.
    if (!isManual && config?.status !== 1) return DONE;
    const intervalMs = (config?.intervalSeconds ?? 0) * 1_000;
    const answer = await gate.card(item, card, intervalMs, deadline);
    if (answer.may === 'never') return RETURNED;
    if (answer.may === 'not before') return { verdict: 'early', waitMs: answer.waitMs };

    // A card whose polls the gateway limits is left to its ring when it fails.
    const retryCapMs = cardPace === null ? Math.min(intervalMs, RETRY_CAP_MS) : 0;
    const alsoFor = cardPace?.triggersOf(item) ?? NONE;
    stats.countBegun(task.taskType, item, card.carrierId, intervalMs);
    const startedAt = clock.monotonic();
    try {
      const result = await task.poll(card, deadline);
      this.#succeeded(card, result, Math.round(clock.monotonic() - startedAt));
      // When the outcome cannot be written, the writer retries the card as after a failed poll.
      return { verdict: 'done', outcome: result.outcome, retryCapMs, alsoFor };
    } catch (error) {
      const failure = this.#failed(card, error, Math.round(clock.monotonic() - startedAt));
      return { verdict: 'failed', failure, ...retryOf(error, retryCapMs), alsoFor };
    }
  }

  #succeeded({ cardId, iccid, carrierId }: Card, result: TaskResult, durationMs: number): void {
    const { stats, task } = this.deps;
    stats.countSucceeded(task.taskType, durationMs, carrierId);
    if (result.usageMbPerHour !== undefined) stats.countUsageGrowth(task.taskType, result.usageMbPerHour);
    if (result.implausible) stats.countImplausible(task.taskType);
    if (result.counter !== undefined) stats.countCounter(task.taskType, result.counter);
    this.#logCompleted({ card_id: cardId, iccid, ...result.fields, duration_ms: durationMs });
  }

  /** @returns what is stored about the failure. */
  #failed({ cardId, iccid, carrierId }: Card, error: unknown, durationMs: number): FailureNote {
    const { stats, task, log } = this.deps;
    const reason = reasonOf(error);
    const message = messageOf(error);
    stats.countFailed(task.taskType, durationMs, reason, carrierId);
    if (error instanceof GatewayError) this.#noteLoad(error);
    log.warn(
      {
        task_type: task.taskType,
        card_id: cardId,
        iccid,
        error: reason,
        reason: message,
        duration_ms: durationMs,
      },
      'poll failed',
    );
    return { cardId, reason, message: message.slice(0, MAX_MESSAGE), durationMs };
  }

  /** Counts possible signs of overload, and pauses the task type when the gateway refuses every call for a time. */
  #noteLoad({ failure, message, details: { retryAfterMs, interfaceName } }: GatewayError): void {
    const { stats, task, flow, live, instanceId, onError } = this.deps;
    const { taskType } = task;
    if (failure === 'timeout') stats.note(taskType, 'timeouts');
    if (failure !== 'backpressure') return;
    stats.note(taskType, 'backpressure');
    if (retryAfterMs === undefined || !flow.refusesAll(TASKS[taskType].interface)) return;
    const reason = `${interfaceName ?? 'the gateway'} answered ${message}`;
    live.work
      .pause(taskType, { ms: retryAfterMs, reason, by: instanceId })
      .catch((cause: unknown) => onError(cause, 0));
  }
}

/**
 * A card that the gateway refuses waits for its ring. Any other is retried with growing pauses, and not before the time that the
 * gateway named.
 */
function retryOf(error: unknown, retryCapMs: number): Pick<FinishedItem, 'retryCapMs' | 'waitMs'> {
  const known = error instanceof GatewayError ? error : null;
  if (known?.isCardFault) return { retryCapMs: 0, waitMs: 0 };
  return { retryCapMs, waitMs: known?.details.retryAfterMs ?? 0 };
}

/** @returns the kind of failure as the `error` field of the log shows it: the gateway's, else the code of our error. */
function reasonOf(error: unknown): string {
  if (error instanceof GatewayError) return error.failure;
  return error instanceof CardpollError ? error.code : 'internal';
}
