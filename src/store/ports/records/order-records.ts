// Port section of record-store.ts: orders to stop and to resume cards, as a queue. An order is a row: the stop of a card that is
// requested, or a card that waits in a run to be resumed. Readings, operators, runs and the turn of a month put orders there; the
// order workers of all instances take them (docs/decisions/0051-orders-are-a-queue.md).
import type { CardMembership, NamedCard } from '../../../domain/cards/card.ts';
import type { HoldReason, StopMode, StopRules } from '../../../domain/stops/stop.ts';

/** An order that is taken: its card as it was then, and who ordered it. */
export interface Order extends NamedCard, CardMembership {
  readonly kind: 'stop' | 'resume';
  /** An operator released or ordered the stop, or the card waits in a run. Otherwise a reading ordered it. */
  readonly isOperators: boolean;
}

/** Which orders are taken. */
export interface OrderTurn {
  readonly most: number;
  /** Resumes that come before all stops; the others come after them. */
  readonly resumesFirst: number;
  readonly stops: boolean;
  /** In mode observe no stops are taken; a mode that was set for the whole fleet is in force instead. */
  readonly mode: StopMode;
  readonly resumes: boolean;
}

/** What became of a stop that a reading wants. `isNew`: it was not so before. */
export type WantedStop = { readonly cardId: number; readonly iccid: string } & (
  | { readonly state: 'ordered' }
  | { readonly state: 'observed'; readonly isNew: boolean }
  | { readonly state: 'held'; readonly heldBy: HoldReason; readonly isNew: boolean }
);

export interface OrderRecords {
  /**
   * Orders the stops of cards that are over their package, that are not known as stopped and that nothing spares; stops that the rules
   * hold back are held or observed instead. @param month the present one, YYYY-MM
   * @param isPolled whether stops are asked for a card at all
   */
  want(
    cardIds: readonly number[],
    month: string,
    rules: StopRules,
    isPolled: (card: CardMembership) => boolean,
  ): Promise<readonly WantedStop[]>;
  /** @returns how many orders are due, at most `most`. */
  due(turn: Omit<OrderTurn, 'resumesFirst'>): Promise<number>;
  /**
   * Takes orders that are due; no other call takes them within `leaseMs`. Stops that operators ordered come first, then in turn those
   * of cards over their package and those that operators released, then resumes, of which `resumesFirst` come before all.
   */
  take(turn: OrderTurn, leaseMs: number): Promise<readonly Order[]>;
}
