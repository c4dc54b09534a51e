// The result of a poll, in the shape that the result writer stores. Unchanged facts are left out.

import type { UsageMonth } from '../cards/usage-month.ts';
import type { TaskType } from '../task-type.ts';

export interface PollOutcome {
  readonly cardId: number;
  readonly taskType: TaskType;
  /** When the gateway's answer arrived, epoch milliseconds of the fleet's clock. */
  readonly polledAtMs: number;
  /** Present when the card's verification changed. */
  readonly realNameVerified?: boolean;
  /** Present when the card was found stopped, was stopped, or was found running again. */
  readonly stopped?: boolean;
  /** Present when the reading changed something. */
  readonly usage?: UsageChange;
  /** True when the card is now over its package, by the allowance that the poll knew. */
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

/** Which fields of an outcome say that the card itself changed. The compiler asks for every new field. */
const CHANGES_CARD: Readonly<Record<keyof PollOutcome, boolean>> = {
  cardId: false,
  taskType: false,
  polledAtMs: false,
  realNameVerified: true,
  stopped: true,
  usage: true,
  overPackage: false,
};

const CARD_CHANGES = (Object.keys(CHANGES_CARD) as Array<keyof PollOutcome>).filter(
  (field) => CHANGES_CARD[field],
);

/** Whether the poll found out something new about the card, so that a cached copy of the card is out of date. */
export function isChange(outcome: PollOutcome): boolean {
  return CARD_CHANGES.some((field) => outcome[field] !== undefined);
}
