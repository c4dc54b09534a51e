// Why an instance holds polls of a task type back. src/engine/work/gate.ts decides; health, explain and the dashboard show it.

export type PollHold =
  | 'draining' // the instance stops
  | 'not_in_force' // no recorded limits and pauses are in force yet
  | 'paused'
  | 'results_wait' // the number of results that wait for a store is at its limit
  | 'cards_unread' // cards cannot be read from the record store
  | 'rate_limit' // the rate limits of the gateway grant no call
  | 'interface' // flow control permits no call
  | 'card_limit' // the gateway does not allow a poll of the card yet
  | 'no_time'; // the lease of the card nearly expires

/** Texts for a task type. Pauses, breakers and rate limits have other texts, with their figures. */
export const HOLD_WORDS: Partial<Record<PollHold, string>> = {
  not_in_force: 'limits and pauses of record are not in force',
  results_wait: 'results wait for PostgreSQL or Redis',
  cards_unread: 'cards cannot be read from PostgreSQL',
};
