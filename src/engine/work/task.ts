// The interface of a task: poll one card within a deadline and return what was found. Implementations: realname, carddata,
// package. And what tasks share: the deadline and the outcome.
import type { Card } from '../../domain/cards/card.ts';
import type { PollOutcome } from '../../domain/results/poll-outcome.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';

export interface TaskResult {
  readonly outcome: PollOutcome;
  /** Fields of the completion line in the log, in addition to the card's. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** How fast the usage grew, negative if the reading fell far; absent when it was not read or did neither. */
  readonly usageMbPerHour?: number;
  /** The reading of usage was not believed. */
  readonly implausible?: true;
  /** Of a reading of usage: counterIn. */
  readonly counter?: 'counts' | 'fallen';
}

export interface Task {
  readonly taskType: TaskType;
  /** @throws GatewayError when the gateway did not answer for this card; CardpollError when a store did not. */
  poll(card: Card, deadline: Deadline): Promise<TaskResult>;
}

/**
 * How long the worker may still work on a claimed item, and what time it is for that item. A call that would end later than
 * half the lease is not started: a worker that was paused (SIGSTOP, a long garbage collection) must not call the gateway for a
 * card that another worker holds by now.
 *
 * The time is the fleet's time of the claim (fleet-clock.ts) plus what has passed since the claim was sent. So a worker's own
 * clock, ahead or behind, decides neither the order of readings nor their month.
 */
export class Deadline {
  readonly #endsAt: number;

  /**
   * @param claimedAt clock.monotonic() from before the claim was sent.
   * @param claimedAtMs the fleet's time of the claim, epoch milliseconds.
   */
  constructor(
    private readonly clock: Clock,
    private readonly claimedAt: number,
    leaseMs: number,
    private readonly claimedAtMs: number,
  ) {
    this.#endsAt = claimedAt + leaseMs / 2;
  }

  remainingMs(): number {
    return this.#endsAt - this.clock.monotonic();
  }

  /** Now, epoch milliseconds, by the fleet's clock. */
  nowMs(): number {
    return Math.floor(this.claimedAtMs + this.clock.monotonic() - this.claimedAt);
  }
}

/** What the outcome of every poll says. */
export function polledNow(taskType: TaskType, { cardId, iccid }: Card, deadline: Deadline): PollOutcome {
  return { cardId, iccid, taskType, polledAtMs: deadline.nowMs() };
}
