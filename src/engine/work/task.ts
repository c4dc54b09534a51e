// What the worker needs of a task: poll one card, report what was found. Implementations: realname, carddata, package.
import type { Card } from '../../domain/cards/card.ts';
import type { PollOutcome } from '../../domain/results/poll-outcome.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Deadline } from './deadline.ts';

export interface TaskResult {
  readonly outcome: PollOutcome;
  /** What the completion line of the log tells beside the card. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Task {
  readonly taskType: TaskType;
  /** Throws GatewayError when the gateway did not answer for this card; CardpollError when a store did not. */
  poll(card: Card, deadline: Deadline): Promise<TaskResult>;
}
