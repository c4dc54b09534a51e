// The result of a poll, in the shape that the result writer stores. Unchanged facts are left out.

import { type CardState, STATE_FIELDS } from '../cards/card.ts';
import type { UsageMonth } from '../cards/usage-month.ts';
import type { TaskType } from '../task-type.ts';

/** Fields of the state are present when the poll changes them. */
export interface PollOutcome extends Partial<CardState> {
  readonly cardId: number;
  /** The ICCID that was called; absent: the card's ICCID when the outcome is written. */
  readonly iccid?: string;
  readonly taskType: TaskType;
  /** When the gateway's answer arrived, epoch milliseconds of the fleet's clock. */
  readonly polledAtMs: number;
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

type OtherField = Exclude<keyof PollOutcome, keyof CardState>;

/** Whether each other field of an outcome shows a change of the card. The compiler requires an entry for every new field. */
const CHANGES_CARD: Readonly<Record<OtherField, boolean>> = {
  cardId: false,
  iccid: false,
  taskType: false,
  polledAtMs: false,
  usage: true,
  overPackage: false,
};

const CARD_CHANGES: ReadonlyArray<keyof PollOutcome> = [
  ...STATE_FIELDS,
  ...(Object.keys(CHANGES_CARD) as OtherField[]).filter((field) => CHANGES_CARD[field]),
];

/** Whether the poll found a change of the card, so that a cached copy of the card is outdated. */
export function isChange(outcome: PollOutcome): boolean {
  return CARD_CHANGES.some((field) => outcome[field] !== undefined);
}
