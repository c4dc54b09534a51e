// Manual triggers: an operator's request to poll cards once, now, independent of the schedule (operations interface,
// sections 1 and 2.6), and its entries in the manual list.
import type { TaskType } from './task-type.ts';

export const TRIGGER_KINDS = ['single', 'batch', 'by_condition'] as const;
type TriggerKind = (typeof TRIGGER_KINDS)[number];

/**
 * queued: no result yet; running: some results; completed: a result for every card; cancelled: the entries that had not
 * begun were removed. The last two are final.
 */
export const TRIGGER_STATUSES = ['queued', 'running', 'completed', 'cancelled'] as const;
type TriggerStatus = (typeof TRIGGER_STATUSES)[number];

/** Maximum number of cards per batch. */
export const MAX_BATCH_CARDS = 10_000;

/** Most cards of a trigger that are counted as too early for the gateway, which takes milliseconds. */
export const EARLY_COUNTED = 10_000;

/** Card ids are whole numbers that JSON represents exactly. */
export const CARD_ID_BOUNDS = { min: 1, max: Number.MAX_SAFE_INTEGER } as const;

/** Carriers and statuses are the fleet's own numbers, of 32 bits. */
export const SELECTION_BOUNDS = { min: -(2 ** 31), max: 2 ** 31 - 1 } as const;

/** Which cards a by-condition trigger selects (operations interface, section 2.8); null matches every value. */
export interface CardSelection {
  readonly carrierId: number | null;
  readonly status: number | null;
}

export interface ManualTrigger {
  readonly triggerId: string;
  readonly kind: TriggerKind;
  readonly taskType: TaskType;
  readonly status: TriggerStatus;
  /** null unless the kind is by_condition. */
  readonly selection: CardSelection | null;
  /** Cards of the trigger; an estimate while `totalEstimated`, exact once all cards were handed to the workers. */
  readonly total: number;
  readonly totalEstimated: boolean;
  readonly succeeded: number;
  /** Polls that failed (there is no retry), and cards that were removed meanwhile. */
  readonly failed: number;
  readonly createdAtMs: number;
  /** null until completed or cancelled. */
  readonly finishedAtMs: number | null;
}

/** The result of one card of a trigger. */
export interface TriggerResult {
  readonly triggerId: string;
  readonly cardId: number;
  readonly succeeded: boolean;
}

/** The entry of the manual list for a card of a trigger. */
export function manualEntry(cardId: number, triggerId: string): string {
  return `${cardId}:${triggerId}`;
}

/** The card of an entry. 0, which no card has, for a foreign entry that is not a card id. */
export function cardIdOf(entry: string): number {
  const cardId = Number(/^[1-9]\d{0,15}(?=:|$)/.exec(entry)?.[0] ?? 0);
  return Number.isSafeInteger(cardId) ? cardId : 0;
}

/** The trigger of an entry; null for a bare card id and for an invalid entry. */
export function triggerIdOf(entry: string): string | null {
  return /^[^:]*:([\w-]{1,64})$/.exec(entry)?.[1] ?? null;
}
