// Stop claims (see StopClaim in the port): each method is one statement.
//
// The number of the attempt is the fence: a caller that was frozen past its lease must not give up, on waking, the
// claim that somebody else holds by then. The port does not carry it, so the store remembers the attempts it was
// granted until they end.
import type { StopClaim, StopRecords, StopRequest } from '../record-store.ts';
import { monthStart } from './partitions.ts';
import claimStop from './queries/claim-stop.sql';
import completeStop from './queries/complete-stop.sql';
import type { PreparedSql, SqlClient } from './sql-client.ts';

const CLAIM: PreparedSql = { name: 'claim_stop', text: claimStop };
const COMPLETE: PreparedSql = { name: 'complete_stop', text: completeStop };

export class SqlStops implements StopRecords {
  readonly #attempts = new Map<string, number>();

  constructor(private readonly client: SqlClient) {}

  async claim(stop: StopRequest, leaseMs: number): Promise<StopClaim> {
    const [row] = await this.client.query<{ state: StopClaim['state']; attempts: number }>(CLAIM, [
      stop.cardId,
      monthStart(stop.month),
      stop.iccid,
      stop.usedMb,
      stop.allowanceMb,
      leaseMs,
    ]);
    const state = row?.state ?? 'held';
    if (state === 'granted' || state === 'unresolved') {
      this.#attempts.set(keyOf(stop.cardId, stop.month), row?.attempts ?? 0);
    }
    return { state };
  }

  async complete(cardId: number, month: string): Promise<void> {
    await this.client.query(COMPLETE, [cardId, monthStart(month)]);
    this.#attempts.delete(keyOf(cardId, month));
  }

  async abandon(cardId: number, month: string, error: string): Promise<void> {
    const key = keyOf(cardId, month);
    await this.client.query(
      `UPDATE card_stops SET claimed_until = NULL, unresolved = false, last_error = $4
       WHERE card_id = $1::bigint AND month = $2::date AND state = 'requested' AND attempts = $3::integer`,
      [cardId, monthStart(month), this.#attempts.get(key) ?? 0, error],
    );
    this.#attempts.delete(key);
  }
}

function keyOf(cardId: number, month: string): string {
  return `${cardId}/${month}`;
}
