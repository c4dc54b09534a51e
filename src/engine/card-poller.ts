// One poll of one card: the task makes its calls, this counts and logs what came of it. Used by worker.ts, which claims
// cards and decides what becomes of them. Where the gateway asks for less, the task type is paused for all instances.
import type { PollOutcome } from '../domain/poll-outcome.ts';
import { TASKS } from '../domain/task-type.ts';
import { GatewayError } from '../gateway/gateway.ts';
import type { Clock } from '../platform/clock.ts';
import { messageOf } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import type { LoopErrorHandler } from '../platform/loop.ts';
import type { WorkQueue } from '../store/ports/work-queue.ts';
import { BackpressureWatch } from './backpressure-watch.ts';
import type { Deadline } from './deadline.ts';
import { reasonOf } from './failed-poll.ts';
import type { StatsRecorder } from './stats-recorder.ts';
import type { PolledCard, Task } from './tasks/task.ts';

/** Pause of the type when the gateway asks for one without saying how long. */
const DEFAULT_BACKPRESSURE_MS = 1_000;

interface CardPollerDeps {
  readonly task: Task;
  readonly instanceId: string;
  readonly work: Pick<WorkQueue, 'pause'>;
  readonly stats: StatsRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onError: LoopErrorHandler;
}

export class CardPoller {
  readonly #backpressure: BackpressureWatch;

  constructor(private readonly deps: CardPollerDeps) {
    this.#backpressure = new BackpressureWatch(deps.clock);
  }

  /** Polls the card, counts and logs it. @returns its outcome, or what kept it from one. */
  async poll(
    card: PolledCard,
    deadline: Deadline,
  ): Promise<{ outcome: PollOutcome } | { error: unknown; durationMs: number }> {
    const { task, clock, stats, log } = this.deps;
    const startedAt = clock.monotonic();
    const tookMs = () => Math.round(clock.monotonic() - startedAt);
    try {
      const result = await task.poll(card, deadline);
      const durationMs = tookMs();
      this.#backpressure.note(false);
      stats.countSucceeded(task.taskType, durationMs, card.carrierId);
      log.info(
        { card_id: card.cardId, iccid: card.iccid, ...result.fields, duration_ms: durationMs },
        TASKS[task.taskType].completed,
      );
      return { outcome: result.outcome };
    } catch (error) {
      const durationMs = tookMs();
      stats.countFailed(task.taskType, durationMs, reasonOf(error), card.carrierId);
      this.#noteFailure(error, card, durationMs);
      return { error, durationMs };
    }
  }

  #noteFailure(error: unknown, card: PolledCard, durationMs: number): void {
    const { task, log } = this.deps;
    const gatewayError = error instanceof GatewayError ? error : null;
    // That a failing card fails again says nothing about what the gateway can take.
    if (gatewayError !== null && card.failing !== true) this.#noteEvidence(gatewayError);
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

  #noteEvidence(error: GatewayError): void {
    const { stats, task } = this.deps;
    const backpressure = error.failure === 'backpressure';
    if (backpressure) stats.note(task.taskType, 'backpressure');
    if (error.failure === 'timeout') stats.note(task.taskType, 'timeouts');
    if (this.#backpressure.note(backpressure)) this.#pause(error);
  }

  #pause({ message, details }: GatewayError): void {
    const { work, task, instanceId, onError } = this.deps;
    const { retryAfterMs: ms = DEFAULT_BACKPRESSURE_MS, interfaceName } = details;
    const reason = `${interfaceName ?? 'the gateway'} answered ${message}`;
    work
      .pause(task.taskType, { source: 'gateway', ms, reason, by: instanceId })
      .catch((cause: unknown) => onError(cause, 0));
  }
}
