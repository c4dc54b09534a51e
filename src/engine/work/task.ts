// The interface of a task: poll one card and return what was found. Implementations: realname, carddata, package.
import type { Card } from '../../domain/cards/card.ts';
import type { PollOutcome } from '../../domain/results/poll-outcome.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Deadline } from './deadline.ts';

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
