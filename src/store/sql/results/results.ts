// Writes the results of polls. Called by the engine's result writer with batches of up to some thousand outcomes.
//
// The outcomes become the parameter arrays of the statement `write`. It may touch a row once, so several outcomes of one card
// become one row; if a card has several readings, each further one needs a statement after the first (the next round).
import { type CardState, STATE_FIELDS } from '../../../domain/cards/card.ts';
import type { PollOutcome, UsageChange } from '../../../domain/results/poll-outcome.ts';
import { TASK_TYPES, type TaskType } from '../../../domain/task-type.ts';
import { snakeCase } from '../../../platform/snake-keys.ts';
import type { NotWritten, ResultRecords } from '../../ports/records/record-store.ts';
import { ensurePartitions, monthStart, withPartitions } from '../cleanup/partitions.ts';
import type { SqlClient, SqlRunner, SqlValue } from '../client/sql-client.ts';
import { DEADLOCK, retryConflicts, SERIALIZATION_FAILURE } from '../client/sql-errors.ts';
import { statements } from '../client/statements.ts';
import file from './results.sql';

const sql = statements(file);

export function sqlResults(client: SqlClient): ResultRecords {
  /** Months of the readings that the statement accepts, without a year that a clock far ahead invented. */
  async function monthsOf(outcomes: readonly PollOutcome[]): Promise<ReadonlySet<string>> {
    const latestMs = Number(await sql.on(client).scalar('latestReading'));
    const states = outcomes.flatMap(({ usage }) => usage?.next ?? []);
    return new Set(states.filter(({ readAtMs }) => readAtMs <= latestMs).map(({ month }) => month));
  }

  function writeAll(rounds: readonly SqlValue[][]): Promise<NotWritten> {
    // Writers lock in card order, but not all tables at once: two of them may still deadlock.
    return retryConflicts([DEADLOCK, SERIALIZATION_FAILURE], () =>
      rounds.length === 1 ? writeRounds(client, rounds) : client.transaction((tx) => writeRounds(tx, rounds)),
    );
  }

  return {
    async write(outcomes) {
      if (outcomes.length === 0) return { staleUsage: [], otherIccid: [] };
      const rounds = outcomeRounds(outcomes);
      const months = () => monthsOf(outcomes);
      return withPartitions(client, months, () => writeAll(rounds));
    },

    foldBack({ present, latest, afterCardId, limit }) {
      const params = [monthStart(present), monthStart(latest), afterCardId, limit];
      return retryConflicts([DEADLOCK, SERIALIZATION_FAILURE], () =>
        withPartitions(client, present, () => sql.on(client).column<number>('foldBack', ...params)),
      );
    },

    ensurePartitions: (month) => ensurePartitions(client, month),
  };
}

async function writeRounds(runner: SqlRunner, rounds: readonly SqlValue[][]): Promise<NotWritten> {
  const db = sql.on(runner);
  const [staleUsage, otherIccid] = [new Set<number>(), new Set<number>()];
  for (const params of rounds) {
    const rows = await db.rows<{ cardId: number; isOther: boolean }>('write', ...params);
    for (const { cardId, isOther } of rows) (isOther ? otherIccid : staleUsage).add(cardId);
  }
  return { staleUsage: [...staleUsage], otherIccid: [...otherIccid] };
}

interface CardRow {
  readonly cardId: number;
  readonly iccid: string | null;
  readonly polledAtMs: Partial<Record<TaskType, number>>;
  readonly state: Partial<CardState>;
  readonly readings: UsageChange[];
}

interface Reading extends UsageChange {
  readonly cardId: number;
  readonly iccid: string | null;
}

type Cell = string | number | boolean | null;
type Columns<Row> = Readonly<Record<string, (row: Row) => Cell>>;

// The statement's parameters, one array per column, by its names and in its order.
const FLAGS: Columns<CardRow> = {
  card_id: ({ cardId }) => cardId,
  iccid: ({ iccid }) => iccid,
  ...Object.fromEntries(
    STATE_FIELDS.map((field) => [snakeCase(field), ({ state }: CardRow) => state[field] ?? null]),
  ),
};
const READINGS: Columns<Reading> = {
  card_id: ({ cardId }) => cardId,
  iccid: ({ iccid }) => iccid,
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
  iccid: ({ iccid }) => iccid,
  ...Object.fromEntries(
    TASK_TYPES.map((type) => [`${type}_ms`, ({ polledAtMs }: CardRow) => polledAtMs[type] ?? null]),
  ),
};

/** The names of the statement's parameters, in order. */
export const WRITE_COLUMNS: readonly string[] = [FLAGS, READINGS, POLLS].flatMap(Object.keys);

/** The parameters of one round, or of several if a card has more than one reading; write them in order, in one transaction. */
export function outcomeRounds(outcomes: readonly PollOutcome[]): SqlValue[][] {
  const cards = mergeByCard(outcomes);
  const rounds = cards.reduce((most, card) => Math.max(most, card.readings.length), 1);
  return Array.from({ length: rounds }, (_, round) => toRound(cards, round));
}

/**
 * One row per card and ICCID, of which the statement writes the one with the card's ICCID. In card order: concurrent writers that
 * lock rows in the same order cannot deadlock.
 */
function mergeByCard(outcomes: readonly PollOutcome[]): CardRow[] {
  const byCard = new Map<string, CardRow>();
  for (const outcome of outcomes.toSorted((a, b) => a.polledAtMs - b.polledAtMs)) {
    const { cardId, iccid = null } = outcome;
    const key = `${cardId} ${iccid}`;
    let row = byCard.get(key);
    if (row === undefined) {
      row = { cardId, iccid, polledAtMs: {}, state: {}, readings: [] };
      byCard.set(key, row);
    }
    row.polledAtMs[outcome.taskType] = outcome.polledAtMs;
    for (const field of STATE_FIELDS) {
      if (outcome[field] !== undefined) Object.assign(row.state, { [field]: outcome[field] });
    }
    if (outcome.usage !== undefined) row.readings.push(outcome.usage);
  }
  return [...byCard.values()].sort((a, b) => a.cardId - b.cardId);
}

function toRound(cards: readonly CardRow[], round: number): SqlValue[] {
  const polls = round === 0 ? cards : [];
  const flags = polls.filter(({ state }) => Object.keys(state).length > 0);
  const readings = cards.flatMap(({ cardId, iccid, readings }) => {
    const usage = readings[round];
    return usage === undefined ? [] : [{ cardId, iccid, ...usage }];
  });
  return [...arrays(FLAGS, flags), ...arrays(READINGS, readings), ...arrays(POLLS, polls)];
}

function arrays<Row>(columns: Columns<Row>, rows: readonly Row[]): SqlValue[] {
  return Object.values(columns).map((of) => rows.map(of));
}
