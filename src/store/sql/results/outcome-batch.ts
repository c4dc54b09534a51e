// Folds poll outcomes into the parameter arrays of results.sql. A statement may touch a row once, so
// several outcomes of one card become one row; where a card has several readings, each further one needs a statement
// after the first (the next round).
import type { PollOutcome, UsageChange } from '../../../domain/results/poll-outcome.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlValue } from '../client/sql-client.ts';

interface CardRow {
  readonly cardId: number;
  readonly polledAtMs: Partial<Record<TaskType, number>>;
  verified: boolean | null;
  stopped: boolean | null;
  readonly readings: UsageChange[];
}

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
      row = { cardId: outcome.cardId, polledAtMs: {}, verified: null, stopped: null, readings: [] };
      byCard.set(outcome.cardId, row);
    }
    row.polledAtMs[outcome.taskType] = outcome.polledAtMs;
    row.verified = outcome.realNameVerified ?? row.verified;
    row.stopped = outcome.stopped ?? row.stopped;
    if (outcome.usage !== undefined) row.readings.push(outcome.usage);
  }
  return [...byCard.values()].sort((a, b) => a.cardId - b.cardId);
}

function toRound(cards: readonly CardRow[], round: number): OutcomeRound {
  const polls = round === 0 ? cards : [];
  const flags = polls.filter((card) => card.verified !== null || card.stopped !== null);
  const readings = cards.flatMap(({ cardId, readings }) => {
    const usage = readings[round];
    return usage === undefined ? [] : [{ cardId, ...usage }];
  });
  return {
    params: [
      flags.map((card) => card.cardId),
      flags.map((card) => card.verified),
      flags.map((card) => card.stopped),
      readings.map(({ cardId }) => cardId),
      readings.map(({ next }) => monthStart(next.month)),
      readings.map(({ next }) => next.usedMb),
      readings.map(({ next }) => next.lastReadingMb),
      readings.map(({ next }) => next.suspectedMb),
      readings.map(({ next }) => next.readAtMs),
      readings.map(({ basedOnReadAtMs }) => basedOnReadAtMs),
      polls.map((card) => card.cardId),
      ...TASK_TYPES.map((type) => polls.map((card) => card.polledAtMs[type] ?? null)),
    ],
  };
}
