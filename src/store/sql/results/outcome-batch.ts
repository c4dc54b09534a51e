// Folds poll outcomes into the parameter arrays of results.write. A statement may touch a row once, so
// several outcomes of one card become one row; where a card has several readings, each further one needs a statement
// after the first (the next round).
import { type CardState, STATE_FIELDS } from '../../../domain/cards/card.ts';
import type { PollOutcome, UsageChange } from '../../../domain/results/poll-outcome.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { snakeCase } from '../../../platform/snake-keys.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlValue } from '../client/sql-client.ts';

interface CardRow {
  readonly cardId: number;
  readonly polledAtMs: Partial<Record<TaskType, number>>;
  readonly state: Partial<CardState>;
  readonly readings: UsageChange[];
}

interface Reading extends UsageChange {
  readonly cardId: number;
}

type Cell = string | number | boolean | null;
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

// What the statement takes, an array a column, by the names it gives them and in its order.
const FLAGS: Columns<CardRow> = {
  card_id: ({ cardId }) => cardId,
  ...Object.fromEntries(
    STATE_FIELDS.map((field) => [snakeCase(field), ({ state }: CardRow) => state[field] ?? null]),
  ),
};
const READINGS: Columns<Reading> = {
  card_id: ({ cardId }) => cardId,
  month: ({ next }) => monthStart(next.month),
  used_mb: ({ next }) => next.usedMb,
  reading_mb: ({ next }) => next.lastReadingMb,
  suspected_mb: ({ next }) => next.suspectedMb,
  jump_from_mb: ({ next }) => next.jump?.fromMb ?? null,
  jump_from_used_mb: ({ next }) => next.jump?.fromUsedMb ?? null,
  jump_ms: ({ next }) => next.jump?.atMs ?? null,
  read_ms: ({ next }) => next.readAtMs,
  based_on_ms: ({ basedOnReadAtMs }) => basedOnReadAtMs,
};
const POLLS: Columns<CardRow> = {
  card_id: ({ cardId }) => cardId,
  ...Object.fromEntries(
    TASK_TYPES.map((type) => [`${type}_ms`, ({ polledAtMs }: CardRow) => polledAtMs[type] ?? null]),
  ),
};

/** The names of the statement's parameters, in order. */
export const WRITE_COLUMNS: readonly string[] = [FLAGS, READINGS, POLLS].flatMap(Object.keys);

export interface OutcomeRound {
  readonly params: readonly SqlValue[];
}

/** One round, or more where a card has more than one reading; to be written in order, in one transaction. */
export function outcomeRounds(outcomes: readonly PollOutcome[]): OutcomeRound[] {
  const cards = mergeByCard(outcomes);
  const rounds = cards.reduce((most, card) => Math.max(most, card.readings.length), 1);
  return Array.from({ length: rounds }, (_, round) => toRound(cards, round));
}

/** One row a card, in card order: concurrent writers that lock rows in the same order cannot deadlock. */
function mergeByCard(outcomes: readonly PollOutcome[]): CardRow[] {
  const byCard = new Map<number, CardRow>();
  for (const outcome of outcomes.toSorted((a, b) => a.polledAtMs - b.polledAtMs)) {
    let row = byCard.get(outcome.cardId);
    if (row === undefined) {
      row = { cardId: outcome.cardId, polledAtMs: {}, state: {}, readings: [] };
      byCard.set(outcome.cardId, row);
    }
    row.polledAtMs[outcome.taskType] = outcome.polledAtMs;
    for (const field of STATE_FIELDS) {
      if (outcome[field] !== undefined) Object.assign(row.state, { [field]: outcome[field] });
    }
    if (outcome.usage !== undefined) row.readings.push(outcome.usage);
  }
  return [...byCard.values()].sort((a, b) => a.cardId - b.cardId);
}

function toRound(cards: readonly CardRow[], round: number): OutcomeRound {
  const polls = round === 0 ? cards : [];
  const flags = polls.filter(({ state }) => Object.keys(state).length > 0);
  const readings = cards.flatMap(({ cardId, readings }) => {
    const usage = readings[round];
    return usage === undefined ? [] : [{ cardId, ...usage }];
  });
  return { params: [...arrays(FLAGS, flags), ...arrays(READINGS, readings), ...arrays(POLLS, polls)] };
}

function arrays<Row>(columns: Columns<Row>, rows: readonly Row[]): SqlValue[] {
  return Object.values(columns).map((of) => rows.map(of));
}
