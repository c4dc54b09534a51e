// Port section of record-store.ts: orders to stop and to resume cards, as a queue. An order is a row: the requested stop of a
// card, or a card that waits in a run to be resumed. Readings, operators, runs and the turn of a month add orders; the order
// workers of all instances take them (docs/decisions/0051-orders-are-a-queue.md).
import type { CardMembership, NamedCard } from '../../../domain/cards/card.ts';
import type { HoldReason, StopMode, StopRules } from '../../../domain/stops/stop.ts';

/** An order that was taken: its card at that time, and who ordered it. */
export interface Order extends NamedCard, CardMembership {
  readonly kind: 'stop' | 'resume';
  /** An operator released or ordered the stop, or the card waits in a run. False: a reading ordered the stop. */
  readonly isOperators: boolean;
}

/** Which orders to take. */
export interface OrderTurn {
  readonly most: number;
  /** Resumes that come before all stops; the others come after them. */
  readonly resumesFirst: number;
  readonly stops: boolean;
  /** In mode observe no stops are taken; a mode set for the whole fleet overrides this one. */
  readonly mode: StopMode;
  readonly resumes: boolean;
}

/** The state of a stop that a reading wants. `isNew`: the state has changed. */
export type WantedStop = { readonly cardId: number; readonly iccid: string } & (
  | { readonly state: 'ordered' }
  | { readonly state: 'observed'; readonly isNew: boolean }
  | { readonly state: 'held'; readonly heldBy: HoldReason; readonly isNew: boolean }
);

export interface OrderRecords {
  /**
   * Orders stops for cards that are over their package, not known as stopped and not exempt; stops that the rules hold back are
   * held or observed instead. @param month the current one, YYYY-MM
   * @param isPolled whether a card may be stopped at all
   */
  want(
    cardIds: readonly number[],
    month: string,
    rules: StopRules,
    isPolled: (card: CardMembership) => boolean,
  ): Promise<readonly WantedStop[]>;
  /** @returns the number of due orders, at most `most`. */
  due(turn: Omit<OrderTurn, 'resumesFirst'>): Promise<number>;
  /**
   * Takes due orders; no other call takes them within `leaseMs`. Stops that operators ordered come first, then in turn stops of
   * cards over their package and stops that operators released, then resumes; `resumesFirst` of the resumes come before all.
   */
  take(turn: OrderTurn, leaseMs: number): Promise<readonly Order[]>;
}
