// Repeats a short transaction that lost against a concurrent one. Used by writers whose statement is safe to repeat
// as a whole; nothing here waits, since the winner has finished when the loser gets its error.
import { sqlStateOf } from './sql-errors.ts';

const ATTEMPTS = 4;

export const DEADLOCK = '40P01';
export const SERIALIZATION_FAILURE = '40001';
export const UNIQUE_VIOLATION = '23505';

export async function retryConflicts<T>(states: readonly string[], run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (attempt === ATTEMPTS || !states.includes(sqlStateOf(error))) throw error;
    }
  }
}
