// Why a card is or is not polled. Used by routes/cards.ts and, through it, by `cardpoll explain` and the dashboard.
import type { TriggerKind } from '../../domain/manual-trigger.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { CardReport } from '../cards/cards.ts';

export type PollingState =
  | 'scheduled' // in its ring, not due yet
  | 'due' // queued, or overdue in its ring
  | 'running'
  | 'backoff' // failed, waits for its next attempt
  | 'paused' // the task type is paused
  | 'held' // a breaker holds its interface back
  | 'disabled' // its config is disabled
  | 'unmatched' // no config matches it
  | 'not_loaded'; // a config matches it, but its ring does not contain it yet

export interface TaskExplanation {
  readonly taskType: TaskType;
  readonly state: PollingState;
  /** One sentence without a full stop: what happens to the card, and why. */
  readonly text: string;
  /** The command that helps or shows more; null: none is needed. */
  readonly command: string | null;
  /** The config that polls the card; null: none matches it. */
  readonly config: { readonly id: number; readonly name: string; readonly intervalSeconds: number } | null;
  readonly otherConfigs: ReadonlyArray<{
    readonly id: number;
    readonly name: string;
    readonly reason: string;
  }>;
  /** The card's bucket, counted from 0 in the order in which the ring reaches the buckets. */
  readonly ring: { readonly bucket: number; readonly buckets: number; readonly member: boolean } | null;
  readonly nextDueAt: Date | null;
  readonly overdueSeconds: number | null;
  /** Number of cards that are polled before it. */
  readonly cardsBefore: number | null;
  /** Seconds until it is polled, at the present rate. */
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
  /** One entry per month, the latest first. */
  readonly usage: ReadonlyArray<{ readonly month: string; readonly usedMb: number }>;
  /** The latest first. */
  readonly stops: ReadonlyArray<{ readonly at: Date; readonly action: string; readonly detail: string }>;
  readonly openTriggers: ReadonlyArray<{
    readonly triggerId: string;
    readonly kind: TriggerKind;
    readonly taskType: TaskType;
    readonly createdAt: Date;
  }>;
  /** The command that shows the card's log lines. */
  readonly logsCommand: string;
}
