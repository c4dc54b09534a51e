// The interface of a task: poll one card within a deadline and return what was found. Implementations: realname, carddata,
// package. And what tasks share: the deadline, the outcome, and calls that follow from a poll.
import type { Card } from '../../domain/cards/card.ts';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import type { PollOutcome } from '../../domain/results/poll-outcome.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { type CalledCard, type Gateway, type GatewayAnswer, GatewayError } from '../../gateway/gateway.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CardpollError } from '../../platform/errors.ts';

export interface TaskResult {
  readonly outcome: PollOutcome;
  /** Fields of the completion line in the log, in addition to the card's. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** How fast the usage grew; absent when it was not read or did not grow. */
  readonly usageMbPerHour?: number;
  /** The reading of usage was not believed. */
  readonly implausible?: true;
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
export function polledNow(taskType: TaskType, { cardId }: Card, deadline: Deadline): PollOutcome {
  return { cardId, taskType, polledAtMs: deadline.nowMs() };
}

/** Half of the time that is left is for the call itself. */
const SHARE_FOR_PACE = 0.5;

/** Makes a call that follows from a poll: it draws from the rate limits by itself. */
export function followUpCall(
  gateway: Gateway,
  interfaceName: InterfaceName,
  card: CalledCard,
  deadline: Deadline,
): Promise<GatewayAnswer> {
  const leftMs = deadline.remainingMs();
  return gateway.call(interfaceName, card, leftMs, SHARE_FOR_PACE * leftMs);
}

/** A call that its card was claimed for, and what the records are told of it. */
interface ClaimedCall {
  readonly send: () => Promise<unknown>;
  /** Whether the card is stopped when the call has had its effect. */
  readonly stopsCard: boolean;
  /** The call certainly had no effect. */
  readonly abandon: (refusal: GatewayError) => Promise<void>;
  /** The gateway acknowledged the call and does not show its effect. */
  readonly acknowledge: () => Promise<void>;
  readonly unconfirmed: (card: CalledCard) => CardpollError;
}

/**
 * Makes a claimed call, and asks the gateway for its effect: an acknowledgement alone is not enough.
 * @throws GatewayError; `unconfirmed` when the gateway does not show the effect.
 */
export async function makeClaimedCall(
  gateway: Gateway,
  card: CalledCard,
  deadline: Deadline,
  { send, stopsCard, abandon, acknowledge, unconfirmed }: ClaimedCall,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    // Only a refusal proves that the call had no effect. After any other error the claim ends and the status is asked.
    if (error instanceof GatewayError && error.isRefusal) await abandon(error);
    throw error;
  }
  try {
    const { value } = await followUpCall(gateway, 'card_status', card, deadline);
    if (gateway.isStoppedStatus(String(value)) !== stopsCard) throw unconfirmed(card);
  } catch (error) {
    await acknowledge();
    throw error;
  }
}
