// Why an instance holds polls of a task type back. src/engine/work/gate.ts decides; health, explain and the dashboard show it.

export type PollHold =
  | 'draining' // the instance stops
  | 'not_in_force' // limits and pauses of record are not in force yet
  | 'paused'
  | 'results_wait' // as many results as fit wait for a store
  | 'cards_unread' // the record store does not let cards be read
  | 'rate_limit' // the rate limits of the gateway grant no call
  | 'interface' // flow control permits no call
  | 'card_limit' // the gateway allows a poll of the card later
  | 'no_time'; // the lease of the card is nearly over

/** What is shown of a task type. Pauses, breakers and rate limits have words of their own, with their figures. */
export const HOLD_WORDS: Partial<Record<PollHold, string>> = {
  not_in_force: 'limits and pauses of record are not in force',
  results_wait: 'results wait for PostgreSQL or Redis',
  cards_unread: 'cards cannot be read from PostgreSQL',
};
