// Why a card is or is not polled. Used by routes/cards.ts and, through it, by `cardpoll explain` and the dashboard.
import type { TriggerKind } from '../../domain/manual-trigger.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { CardReport } from '../cards/cards.ts';

export type PollingState =
  | 'scheduled' // in its ring, not due yet
  | 'due' // queued, or overdue in its ring
  | 'running'
  | 'backoff' // failed, waits for its next try
  | 'paused' // the task type is
  | 'held' // a breaker holds its interface back
  | 'disabled' // its config is
  | 'unmatched' // no config takes it
  | 'not_loaded'; // its config does, and its ring does not have it yet

export interface TaskExplanation {
  readonly taskType: TaskType;
  readonly state: PollingState;
  /** One sentence without a full stop: what happens to the card, and why. */
  readonly text: string;
  /** What helps, or shows more; null where nothing needs to be typed. */
  readonly command: string | null;
  /** The config that takes it; null: none does. */
  readonly config: { readonly id: number; readonly name: string; readonly intervalSeconds: number } | null;
  readonly otherConfigs: ReadonlyArray<{
    readonly id: number;
    readonly name: string;
    readonly reason: string;
  }>;
  /** The card's bucket, counted from 0 in the order in which the ring comes to them. */
  readonly ring: { readonly bucket: number; readonly buckets: number; readonly member: boolean } | null;
  readonly nextDueAt: Date | null;
  readonly overdueSeconds: number | null;
  /** Cards that are polled before it, and how long they take at the present rate. */
  readonly cardsBefore: number | null;
  readonly expectedInSeconds: number | null;
  readonly lastSucceededAt: Date | null;
  readonly lastFailure: {
    readonly at: Date;
    readonly reason: string;
    readonly message: string;
    readonly durationMs: number;
    readonly attempts: number;
    readonly nextTryAt: Date | null;
  } | null;
}

export interface CardExplanation {
  readonly generatedAt: Date;
  readonly card: CardReport;
  readonly tasks: readonly TaskExplanation[];
  /** By month, the latest first. */
  readonly usage: ReadonlyArray<{ readonly month: string; readonly usedMb: number }>;
  /** The latest first. */
  readonly stops: ReadonlyArray<{ readonly at: Date; readonly action: string; readonly detail: string }>;
  readonly openTriggers: ReadonlyArray<{
    readonly triggerId: string;
    readonly kind: TriggerKind;
    readonly taskType: TaskType;
    readonly createdAt: Date;
  }>;
  /** Shows the card's log lines. */
  readonly logsCommand: string;
}
