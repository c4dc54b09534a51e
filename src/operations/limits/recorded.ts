// The second half of an order about limits and pauses: it is of record, and now comes into force in the live store.
import { CardpollError } from '../../platform/errors.ts';

/** @throws CardpollError `unavailable` while the live store takes nothing; says that the order is recorded */
export async function afterRecord(act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof CardpollError) || error.kind !== 'unavailable') throw error;
    throw new CardpollError('unavailable', error.code, `recorded, but not in force yet: ${error.message}`, {
      cause: error,
      hint: 'it comes into force by itself once Redis takes it; until then, what was set before is in force',
    });
  }
}
