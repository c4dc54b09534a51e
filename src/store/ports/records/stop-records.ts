// Port section of record-store.ts: the stops of cards over their package.
import type { AuditEntry } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';

/** A stop the gateway acknowledged although the card still runs. */
export interface UnconfirmedStop {
  /** Calls so far that ended like this. */
  readonly calls: number;
  /** Until the next call is allowed. */
  readonly retryInMs: number;
}

/**
 * The life of a stop: `requested` is written before the gateway is called, `done` when the gateway shows the card
 * stopped. Who finds `requested` older than a lease knows that somebody died around the call and must ask the gateway
 * for the card's status before calling again.
 */
export type StopClaim =
  // This caller, and nobody else, may call the gateway now; unresolved: an earlier caller died or failed around its call.
  | { readonly state: 'granted' | 'unresolved'; readonly usedMb: number; readonly allowanceMb: number }
  | { readonly state: 'held' } // another caller is at it
  | ({ readonly state: 'unconfirmed' } & UnconfirmedStop) // acknowledged without effect; not to be called again yet
  | { readonly state: 'not_over' } // unknown card, within its present allowance, or its usage is in doubt
  | { readonly state: 'done' };

/** A stop as it stands: at most one a card and month. */
export interface CardStop {
  /** YYYY-MM */
  readonly month: string;
  readonly usedMb: number;
  readonly allowanceMb: number;
  readonly requestedAtMs: number;
  /** When the gateway showed the card stopped; null while it does not. */
  readonly completedAtMs: number | null;
  /** Claims so far, and calls that were acknowledged without effect. */
  readonly attempts: number;
  readonly unconfirmed: number;
  readonly lastError: string | null;
}

export interface StopRecords {
  /** The last `limit` stops of a card, the latest first. */
  ofCard(cardId: number, limit: number): Promise<readonly CardStop[]>;
  /**
   * Those of these cards that are to be stopped: over their package without doubt, not known as stopped, and their stop of
   * that month is not done.
   */
  wanted(cardIds: readonly number[]): Promise<CardMembership[]>;
  /**
   * Claims the right to stop a card that the gateway shows running, if it is over its package by the records of this
   * moment: a card is stopped at most once a month. The claim is held for `leaseMs`.
   * @param month YYYY-MM
   */
  claim(cardId: number, month: string, leaseMs: number): Promise<StopClaim>;
  /**
   * The gateway shows the card stopped: marks the stop done and the card stopped, and records it in the audit trail, in one
   * transaction. @returns the entry; null where no stop was under way.
   */
  complete(cardId: number, month: string): Promise<AuditEntry | null>;
  /**
   * The gateway acknowledged the claimed call and does not show the card stopped: no further claim before a pause, 30 s
   * doubling to an hour. @returns null when the claim is no longer this caller's.
   */
  acknowledge(cardId: number, month: string): Promise<UnconfirmedStop | null>;
  /** The call certainly did not take effect (the gateway refused it): the next claim is granted at once. */
  abandon(cardId: number, month: string, error: string): Promise<void>;
  /** Cards that run although the gateway acknowledged their stop; counted up to UNCONFIRMED_STOPS_COUNTED. */
  unconfirmed(): Promise<number>;
}
