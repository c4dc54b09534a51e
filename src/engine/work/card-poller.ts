// Polls one card: the task makes the gateway calls; this file counts and logs the result. Used by worker.ts, which
// claims and settles cards. When the gateway refuses every call and names a time, this file pauses the task type on
// all instances. It also says what follows from a failed poll: when the card is polled again, and what is stored.
import type { Card } from '../../domain/cards/card.ts';
import { TASKS } from '../../domain/task-type.ts';
import { type FlowControl, GatewayError } from '../../gateway/gateway.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import { infoLine, type Logger } from '../../platform/logger.ts';
import type { LoopMeans } from '../../platform/loop.ts';
import type { FailureNote } from '../../store/ports/live/poll-stats.ts';
import type { WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { FinishedItem } from '../results/result-writer.ts';
import type { StatsRecorder } from '../stats/stats-recorder.ts';
import type { Deadline, Task } from './task.ts';

/** When a failed card may be polled again. */
export type Retry = Pick<FinishedItem, 'retryCapMs' | 'waitMs'>;

/** The card waits for its ring. */
export const NO_RETRY: Retry = { retryCapMs: 0, waitMs: 0 };

/** Once its backoff reaches this, a failed card is left to its ring. */
const RETRY_CAP_MS = 60_000;
/** Characters kept of an error message: a gateway may answer with a page of HTML. */
const MAX_MESSAGE = 200;

interface CardPollerDeps extends LoopMeans {
  readonly task: Task;
  readonly instanceId: string;
  readonly live: { readonly work: Pick<WorkQueue, 'pause'> };
  readonly stats: StatsRecorder;
  readonly flow: Pick<FlowControl, 'refusesAll'>;
  readonly log: Logger;
}

export class CardPoller {
  readonly #logCompleted;

  constructor(private readonly deps: CardPollerDeps) {
    this.#logCompleted = infoLine(deps.log, TASKS[deps.task.taskType].completed);
  }

  /** Polls the card, counts and logs the poll. @returns its outcome, or the error that prevented one. */
  async poll(card: Card, deadline: Deadline) {
    const { task, clock, stats } = this.deps;
    const startedAt = clock.monotonic();
    const tookMs = () => Math.round(clock.monotonic() - startedAt);
    try {
      const result = await task.poll(card, deadline);
      const durationMs = tookMs();
      stats.countSucceeded(task.taskType, durationMs, card.carrierId);
      if (result.usageMbPerHour !== undefined) stats.countUsageGrowth(task.taskType, result.usageMbPerHour);
      if (result.implausible) stats.countImplausible(task.taskType);
      if (result.counter !== undefined) stats.countCounter(task.taskType, result.counter);
      const { cardId, iccid } = card;
      this.#logCompleted({ card_id: cardId, iccid, ...result.fields, duration_ms: durationMs });
      return { outcome: result.outcome };
    } catch (error) {
      const durationMs = tookMs();
      stats.countFailed(task.taskType, durationMs, reasonOf(error), card.carrierId);
      this.#noteFailure(error, card, durationMs);
      return { error, durationMs };
    }
  }

  #noteFailure(error: unknown, card: Card, durationMs: number): void {
    const { task, log } = this.deps;
    const gatewayError = error instanceof GatewayError ? error : null;
    if (gatewayError !== null) this.#noteLoad(gatewayError);
    log.warn(
      {
        task_type: task.taskType,
        card_id: card.cardId,
        iccid: card.iccid,
        error: reasonOf(error),
        reason: messageOf(error),
        duration_ms: durationMs,
      },
      'poll failed',
    );
  }

  /** Counts possible signs of overload, and pauses the task type when the gateway refuses every call for a time. */
  #noteLoad(error: GatewayError): void {
    const { stats, task, flow } = this.deps;
    const refused = error.failure === 'backpressure';
    if (refused) stats.note(task.taskType, 'backpressure');
    if (error.failure === 'timeout') stats.note(task.taskType, 'timeouts');
    const { retryAfterMs } = error.details;
    if (refused && retryAfterMs !== undefined && flow.refusesAll(TASKS[task.taskType].interface)) {
      this.#pause(error, retryAfterMs);
    }
  }

  #pause({ message, details }: GatewayError, ms: number): void {
    const { live, task, instanceId, onError } = this.deps;
    const reason = `${details.interfaceName ?? 'the gateway'} answered ${message}`;
    live.work
      .pause(task.taskType, { ms, reason, by: instanceId })
      .catch((cause: unknown) => onError(cause, 0));
  }
}

/**
 * A card that the gateway refuses is polled once an interval, by its ring. Any other failed poll is retried with
 * growing pauses, and not before the time that the gateway named.
 */
export function retryOf(error: unknown, intervalMs: number): Retry {
  const gatewayError = error instanceof GatewayError ? error : null;
  if (gatewayError?.isCardFault) return NO_RETRY;
  return { retryCapMs: Math.min(intervalMs, RETRY_CAP_MS), waitMs: gatewayError?.details.retryAfterMs ?? 0 };
}

/** @returns the kind of failure as the `error` field of the log shows it: the gateway's, else the code of our error. */
function reasonOf(error: unknown): string {
  if (error instanceof GatewayError) return error.failure;
  return error instanceof CardpollError ? error.code : 'internal';
}

export function failureNoteOf(error: unknown, cardId: number, durationMs: number): FailureNote {
  return { cardId, reason: reasonOf(error), message: messageOf(error).slice(0, MAX_MESSAGE), durationMs };
}
