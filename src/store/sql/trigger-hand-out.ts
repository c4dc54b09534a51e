// Hands out the next cards of a manual trigger: writes them down as owed and moves the trigger's cursor behind them,
// in the caller's transaction. Used by triggers.ts. The lock on the trigger's row keeps callers apart.
import type { TriggerKind, TriggerStatus } from '../../domain/manual-trigger.ts';
import handOutListed from './queries/hand-out-listed.sql';
import handOutSelected from './queries/hand-out-selected.sql';
import type { PreparedSql, SqlRunner } from './sql-client.ts';

const LISTED: PreparedSql = { name: 'hand_out_listed', text: handOutListed };
const SELECTED: PreparedSql = { name: 'hand_out_selected', text: handOutSelected };
const LOCK: PreparedSql = {
  name: 'lock_trigger',
  text: `SELECT kind, status, carrier_id, card_status, last_card_id, total, total_estimated, handed_out, succeeded, failed
    FROM manual_triggers
    WHERE trigger_id = $1::text AND feeding AND status IN ('queued', 'running')
    FOR UPDATE`,
};
const SAVE: PreparedSql = {
  name: 'save_trigger',
  text: `UPDATE manual_triggers SET feeding = $2::boolean, last_card_id = $3::bigint, handed_out = $4::bigint,
      total = $5::bigint, total_estimated = $6::boolean, failed = $7::bigint, status = $8::text,
      card_ids = CASE WHEN $2::boolean THEN card_ids END,
      finished_at = CASE WHEN $8::text = 'completed' THEN clock_timestamp() END
    WHERE trigger_id = $1::text`,
};
/** Cards looked at in one call: a few milliseconds. */
const PIECE_CARDS = 10_000;

interface TriggerRow {
  readonly kind: TriggerKind;
  readonly status: TriggerStatus;
  readonly carrier_id: number | null;
  readonly card_status: number | null;
  readonly last_card_id: number;
  readonly total: number;
  readonly total_estimated: boolean;
  readonly handed_out: number;
  readonly succeeded: number;
  readonly failed: number;
}

interface Chunk {
  readonly cardIds: readonly number[];
  readonly lastCardId: number;
  readonly more: boolean;
}

/** @returns no cards, and no more, for a trigger that is finished or handed out in full. */
export async function handOutNext(
  tx: SqlRunner,
  triggerId: string,
  limit: number,
): Promise<{ cardIds: readonly number[]; more: boolean }> {
  const [trigger] = await tx.query<TriggerRow>(LOCK, [triggerId]);
  if (trigger === undefined) return { cardIds: [], more: false };
  const take = trigger.kind === 'by_condition' ? takeSelected : takeListed;
  const chunk = await take(tx, triggerId, trigger, limit);
  await save(tx, triggerId, trigger, chunk);
  return { cardIds: chunk.cardIds, more: chunk.more };
}

async function takeListed(
  tx: SqlRunner,
  triggerId: string,
  trigger: TriggerRow,
  limit: number,
): Promise<Chunk> {
  const { handed_out: before, last_card_id: lastCardId, total } = trigger;
  const [row] = await tx.query<{ card_ids: string | null }>(LISTED, [triggerId, before, limit]);
  const cardIds = parseIds(row?.card_ids);
  return { cardIds, lastCardId, more: before + cardIds.length < total };
}

async function takeSelected(
  tx: SqlRunner,
  triggerId: string,
  trigger: TriggerRow,
  limit: number,
): Promise<Chunk> {
  const { last_card_id: after, carrier_id: carrierId, card_status: status } = trigger;
  const [row] = await tx.query<{ card_ids: string | null; looked_at: number; last_looked_at: number | null }>(
    SELECTED,
    [triggerId, after, PIECE_CARDS, carrierId, status, limit],
  );
  const cardIds = parseIds(row?.card_ids);
  // A full hand may have left matching cards of the piece behind.
  if (cardIds.length === limit) return { cardIds, lastCardId: cardIds.at(-1) ?? after, more: true };
  return { cardIds, lastCardId: row?.last_looked_at ?? after, more: row?.looked_at === PIECE_CARDS };
}

async function save(tx: SqlRunner, triggerId: string, trigger: TriggerRow, chunk: Chunk): Promise<void> {
  const handedOut = trigger.handed_out + chunk.cardIds.length;
  const estimated = trigger.total_estimated && chunk.more;
  const total = trigger.total_estimated && !chunk.more ? handedOut : Math.max(trigger.total, handedOut);
  // Cards that were counted when the trigger was made and are gone before their turn.
  const failed = trigger.failed + (chunk.more ? 0 : total - handedOut);
  const completed = !chunk.more && trigger.succeeded + failed === total;
  const status = completed ? 'completed' : trigger.status;
  await tx.query(SAVE, [
    triggerId,
    chunk.more,
    chunk.lastCardId,
    handedOut,
    total,
    estimated,
    failed,
    status,
  ]);
}

function parseIds(text: string | null | undefined): number[] {
  return text === null || text === undefined ? [] : text.split(',').map(Number);
}
