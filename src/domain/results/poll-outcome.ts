// What a poll found out, in the shape the result writer stores it. Unchanged facts are left out.

import type { UsageMonth } from '../cards/usage-month.ts';
import type { TaskType } from '../task-type.ts';

export interface PollOutcome {
  readonly cardId: number;
  readonly taskType: TaskType;
  /** When the gateway's answer came in, epoch milliseconds by the fleet's clock. */
  readonly polledAtMs: number;
  /** Present when the card's verification changed. */
  readonly realNameVerified?: boolean;
  /** Present when the card was found or made stopped, or found running again. */
  readonly stopped?: boolean;
  /** Present when the reading changed something. */
  readonly usage?: UsageChange;
  /** True when that takes the card over its package, by the allowance at hand. */
  readonly overPackage?: boolean;
}

export interface UsageChange {
  readonly next: UsageMonth;
  /**
   * readAtMs of the state `next` was computed from; null when the card had none. The store writes `next` only if
   * that is still the newest state, so two workers can never count the same growth twice.
   */
  readonly basedOnReadAtMs: number | null;
}

/** Whether the poll found out something new about the card. */
export function isChange({ realNameVerified, stopped, usage }: PollOutcome): boolean {
  return realNameVerified !== undefined || stopped !== undefined || usage !== undefined;
}
