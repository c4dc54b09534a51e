// Writes what polls found out. Called by the engine's result writer with batches of up to some thousand outcomes.
import type { PollOutcome } from '../../../domain/results/poll-outcome.ts';
import type { FoldBackRequest, ResultRecords } from '../../ports/records/result-records.ts';
import { ensurePartitions, monthStart, withPartitions } from '../cleanup/partitions.ts';
import { DEADLOCK, retryConflicts, SERIALIZATION_FAILURE } from '../client/retry-conflicts.ts';
import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { sqlStateOf } from '../client/sql-errors.ts';
import { statements } from '../client/statements.ts';
import { type OutcomeRound, outcomeRounds } from './outcome-batch.ts';
import file from './results.sql';

const SQL = statements(file, 'write', 'latestReading', 'foldBack');
/** What an insert without a matching partition raises. */
const CHECK_VIOLATION = '23514';

export class SqlResults implements ResultRecords {
  constructor(private readonly client: SqlClient) {}

  async write(outcomes: readonly PollOutcome[]): Promise<{ staleUsage: readonly number[] }> {
    if (outcomes.length === 0) return { staleUsage: [] };
    const rounds = outcomeRounds(outcomes);
    try {
      return { staleUsage: await this.#write(rounds) };
    } catch (error) {
      if (sqlStateOf(error) !== CHECK_VIOLATION) throw error;
      for (const month of await this.#months(outcomes)) await this.ensurePartitions(month);
      return { staleUsage: await this.#write(rounds) };
    }
  }

  async foldBack({ present, latest, afterCardId, limit }: FoldBackRequest): Promise<readonly number[]> {
    const params = [monthStart(present), monthStart(latest), afterCardId, limit];
    const rows = await retryConflicts([DEADLOCK, SERIALIZATION_FAILURE], () =>
      withPartitions(this.client, present, () => this.client.query<{ cardId: number }>(SQL.foldBack, params)),
    );
    return rows.map((row) => row.cardId);
  }

  /** Months of the readings that the statement accepts: none of a year that a clock far ahead made up. */
  async #months(outcomes: readonly PollOutcome[]): Promise<ReadonlySet<string>> {
    const [row] = await this.client.query<{ atMs: number }>(SQL.latestReading);
    const states = outcomes.flatMap(({ usage }) => usage?.next ?? []);
    return new Set(states.filter(({ readAtMs }) => readAtMs <= Number(row?.atMs)).map(({ month }) => month));
  }

  ensurePartitions(month: string): Promise<void> {
    return ensurePartitions(this.client, month);
  }

  #write(rounds: readonly OutcomeRound[]): Promise<number[]> {
    // Writers lock in card order, but not all tables at once: two that meet may still deadlock.
    return retryConflicts([DEADLOCK, SERIALIZATION_FAILURE], () =>
      rounds.length === 1
        ? writeRounds(this.client, rounds)
        : this.client.transaction((tx) => writeRounds(tx, rounds)),
    );
  }
}

async function writeRounds(runner: SqlRunner, rounds: readonly OutcomeRound[]): Promise<number[]> {
  const stale = new Set<number>();
  for (const round of rounds) {
    const rows = await runner.query<{ cardId: number }>(SQL.write, round.params);
    for (const row of rows) stale.add(row.cardId);
  }
  return [...stale];
}
