// Port section of record-store.ts: the stops of cards over their package.
import type { AuditEntry } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';

/** A stop that the gateway acknowledged, although the card still runs. */
export interface UnconfirmedStop {
  /** Number of such calls so far. */
  readonly calls: number;
  /** Milliseconds until the next call is allowed. */
  readonly retryInMs: number;
}

/**
 * The life of a stop: `requested` is written before the gateway is called, `done` when the gateway shows the card
 * stopped. A `requested` stop that is older than a lease means that a worker died around the call: ask the gateway for
 * the card's status before calling again.
 */
export type StopClaim =
  // Only this caller may call the gateway now; unresolved: an earlier caller died or failed around its call.
  | {
      readonly state: 'granted' | 'unresolved';
      /** Fences the claim: who held an earlier one, and wakes up late, changes nothing. */
      readonly attempt: number;
      readonly usedMb: number;
      readonly allowanceMb: number;
    }
  | { readonly state: 'held' } // another caller holds the claim
  | ({ readonly state: 'unconfirmed' } & UnconfirmedStop) // acknowledged without effect; not to be called again yet
  | { readonly state: 'not_over' } // unknown card, within its present allowance, or its usage is in doubt
  | { readonly state: 'done' };

/** The current state of a stop; there is at most one for each card and month. */
export interface CardStop {
  /** Month of the usage, YYYY-MM. */
  readonly month: string;
  readonly usedMb: number;
  readonly allowanceMb: number;
  readonly requestedAtMs: number;
  /** When the gateway showed the card stopped; null while it does not. */
  readonly completedAtMs: number | null;
  /** Number of claims so far; `unconfirmed` counts calls that were acknowledged without effect. */
  readonly attempts: number;
  readonly unconfirmed: number;
  readonly lastError: string | null;
}

export interface StopRecords {
  /** @returns the last `limit` stops of a card, latest first. */
  ofCard(cardId: number, limit: number): Promise<readonly CardStop[]>;
  /**
   * @returns the given cards that must be stopped: they are certainly over their package, not known as stopped, and their
   * stop of that month is not done.
   */
  wanted(cardIds: readonly number[]): Promise<CardMembership[]>;
  /**
   * Claims the right to stop a card that the gateway shows running, if the current records say that it is over its
   * package. A card is stopped at most once a month. The claim lasts for `leaseMs`.
   * @param month YYYY-MM
   */
  claim(cardId: number, month: string, leaseMs: number): Promise<StopClaim>;
  /**
   * Call when the gateway shows the card stopped. Marks the stop as done and the card as stopped, and writes an audit
   * entry, in one transaction. @returns the entry; null when no stop was in progress.
   */
  complete(cardId: number, month: string): Promise<AuditEntry | null>;
  /**
   * Call when the gateway acknowledged the claimed call but does not show the card stopped. Allows no further claim
   * before a pause of 30 s, which doubles each time up to an hour. @returns null when this caller no longer holds the
   * claim.
   */
  acknowledge(cardId: number, month: string, attempt: number): Promise<UnconfirmedStop | null>;
  /** Call when the call certainly had no effect (the gateway refused it): the next claim is granted at once. */
  abandon(cardId: number, month: string, attempt: number, error: string): Promise<void>;
  /** @returns the number of cards that run despite an acknowledged stop, up to UNCONFIRMED_STOPS_COUNTED. */
  unconfirmed(): Promise<number>;
}
