// Hands out the next cards of a manual trigger: writes them down as owed and moves the trigger's cursor behind them,
// in the caller's transaction. Used by triggers.ts. The lock on the trigger's row keeps callers apart.
import type { TriggerKind, TriggerStatus } from '../../../domain/manual-trigger.ts';
import type { SqlRunner } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './trigger-hand-out.sql';

const SQL = statements(file, 'lock', 'listed', 'selected', 'save');

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
  const [trigger] = await tx.query<TriggerRow>(SQL.lock, [triggerId]);
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
  const [row] = await tx.query<{ card_ids: string | null }>(SQL.listed, [triggerId, before, limit]);
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
    SQL.selected,
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
  await tx.query(SQL.save, [
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
