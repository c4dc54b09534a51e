// Hands out the next cards of a manual trigger: writes them down as owed and moves the trigger's cursor behind them,
// in the caller's transaction. Used by triggers.ts. The lock on the trigger's row keeps callers apart.
import type { ManualTrigger } from '../../../domain/manual-trigger.ts';
import type { SqlRunner } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './trigger-hand-out.sql';

const SQL = statements(file, 'lock', 'listed', 'selected', 'save');

/** Cards looked at in one call: a few milliseconds. */
const PIECE_CARDS = 10_000;

type LockedRow = Pick<
  ManualTrigger,
  'kind' | 'status' | 'total' | 'totalEstimated' | 'succeeded' | 'failed'
> & {
  readonly carrierId: number | null;
  readonly cardStatus: number | null;
  readonly lastCardId: number;
  readonly handedOut: number;
};

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
  const [trigger] = await tx.query<LockedRow>(SQL.lock, [triggerId]);
  if (trigger === undefined) return { cardIds: [], more: false };
  const take = trigger.kind === 'by_condition' ? takeSelected : takeListed;
  const chunk = await take(tx, triggerId, trigger, limit);
  await save(tx, triggerId, trigger, chunk);
  return { cardIds: chunk.cardIds, more: chunk.more };
}

async function takeListed(
  tx: SqlRunner,
  triggerId: string,
  trigger: LockedRow,
  limit: number,
): Promise<Chunk> {
  const { handedOut: before, lastCardId, total } = trigger;
  const [row] = await tx.query<{ cardIds: string | null }>(SQL.listed, [triggerId, before, limit]);
  const cardIds = parseIds(row?.cardIds);
  return { cardIds, lastCardId, more: before + cardIds.length < total };
}

async function takeSelected(
  tx: SqlRunner,
  triggerId: string,
  trigger: LockedRow,
  limit: number,
): Promise<Chunk> {
  const { lastCardId: after, carrierId, cardStatus } = trigger;
  const [row] = await tx.query<{ cardIds: string | null; lookedAt: number; lastLookedAt: number | null }>(
    SQL.selected,
    [triggerId, after, PIECE_CARDS, carrierId, cardStatus, limit],
  );
  const cardIds = parseIds(row?.cardIds);
  // A full hand may have left matching cards of the piece behind.
  if (cardIds.length === limit) return { cardIds, lastCardId: cardIds.at(-1) ?? after, more: true };
  return { cardIds, lastCardId: row?.lastLookedAt ?? after, more: row?.lookedAt === PIECE_CARDS };
}

async function save(tx: SqlRunner, triggerId: string, trigger: LockedRow, chunk: Chunk): Promise<void> {
  const handedOut = trigger.handedOut + chunk.cardIds.length;
  const estimated = trigger.totalEstimated && chunk.more;
  const total = trigger.totalEstimated && !chunk.more ? handedOut : Math.max(trigger.total, handedOut);
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
