// Runs that resume cards. Work on many cards is done in steps, each a separate statement.
import { DAEMON } from '../../../domain/audit.ts';
import { monthBefore } from '../../../domain/cards/month-calendar.ts';
import { type Candidate, isChosen, type RunChoice } from '../../../domain/orders/run-choice.ts';
import type {
  MonthSelection,
  ResumeRecords,
  ResumeRun,
  ResumeSelection,
} from '../../ports/records/resume-records.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlClient, SqlValue } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { walkingIndexes } from '../client/transaction-bounds.ts';
import { resumeClaims } from '../orders/orders.ts';
import file from './resumes.sql';

const sql = statements(file);

/** Stops, or cards of a list, in one step: a short transaction. */
const STEP = 5_000;
/** Most waiting cards of a run, so that cancelling it is a short transaction, too. */
const WAITING_AT_MOST = 2_000;
/** Most cards that are named with the reason why they were not resumed. */
const NAMED_AT_MOST = 20;
const MONTH_REASON = 'a new month began (stops.resume_at_month_start)';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Card id at which the walk over stops begins, so that all stops of the first instant are included. */
const FIRST_PLACE = Number.MAX_SAFE_INTEGER;

type MetCard = Candidate & {
  readonly cardId: number;
  /** As text, because a number of milliseconds is not exact; null: of a list. */
  readonly walkedAt: string | null;
};

/** The source from which a run, or a preview, chooses its cards. */
interface Source {
  readonly cardIds: readonly number[] | null;
  readonly since: string | null;
  readonly carrierId: number | null;
  /** The new month, YYYY-MM. */
  readonly beginning: string | null;
}

interface NextStep extends RunChoice {
  readonly room: number;
  /** null: the run walks over stops. */
  readonly listed: readonly number[] | null;
  readonly walkedAt: string | null;
  readonly walkedTo: number;
}

export function sqlResumes(client: SqlClient): ResumeRecords {
  const db = sql.on(client);

  /** In steps, because one statement over millions of stops would take too long. */
  async function countStopped({ since, carrierId, beginning }: Source): Promise<number> {
    const month = beginning === null ? null : monthBefore(beginning);
    const choice = { carrierId, month, orderedAt: Number.POSITIVE_INFINITY };
    let [total, at, place] = [0, since, FIRST_PLACE];
    for (;;) {
      const met = await walkingIndexes(client, (tx) =>
        sql.on(tx).rows<MetCard>('nextStops', at, place, STEP),
      );
      total += met.filter((one) => isChosen(one, choice)).length;
      const last = met.at(-1);
      if (last === undefined || met.length < STEP) return total;
      [at, place] = [last.walkedAt, last.cardId];
    }
  }

  async function countListed(cardIds: readonly number[]): Promise<number> {
    const choice = { carrierId: null, month: null, orderedAt: Number.POSITIVE_INFINITY };
    let total = 0;
    for (let from = 0; from < cardIds.length; from += STEP) {
      const listed = cardIds.slice(from, from + STEP);
      const met = await walkingIndexes(client, (tx) => sql.on(tx).rows<MetCard>('nextListed', listed));
      total += met.filter((one) => isChosen(one, choice)).length;
    }
    return total;
  }

  async function created(params: readonly SqlValue[]): Promise<ResumeRun | null> {
    await db.run('forget');
    const id = await db.scalar<string>('create', ...params);
    return id === null ? null : find(id);
  }

  async function find(id: string): Promise<ResumeRun | null> {
    return UUID.test(id) ? db.first('runs', id, 1, NAMED_AT_MOST) : null;
  }

  return {
    ...resumeClaims(client),

    async preview(selection) {
      const source = sourceOf(selection);
      const { cardIds } = source;
      if (cardIds === null) return { total: await countStopped(source), skipped: 0 };
      const total = await countListed(cardIds);
      return { total, skipped: cardIds.length - total };
    },

    async create({ selection, expected, by, reason, stopAgain }) {
      const params = [...valuesOf(sourceOf(selection)), 0, expected, reason, by.name, by.role, stopAgain];
      return (await created(params)) as ResumeRun;
    },

    createForMonth({ beginning }, expected, spreadMs) {
      const { name, role } = DAEMON;
      return created([
        ...valuesOf(sourceOf({ beginning })),
        spreadMs,
        expected,
        MONTH_REASON,
        name,
        role,
        false,
      ]);
    },

    hasRunFor: ({ beginning }) => db.hasRow('ofMonth', monthStart(beginning)),

    handOut: (id) =>
      walkingIndexes(client, async (tx) => {
        const inTurn = sql.on(tx);
        await inTurn.run('lock', id);
        const next = await inTurn.first<NextStep>('countEnded', id, WAITING_AT_MOST, STEP);
        if (next === null || next.room <= 0) return false;
        const { room, listed, walkedAt, walkedTo } = next;
        const met =
          listed === null
            ? await inTurn.rows<MetCard>('nextStops', walkedAt, walkedTo, STEP)
            : await inTurn.rows<MetCard>('nextListed', listed);
        const chosen = met.filter((one) => isChosen(one, next)).slice(0, room);
        // A full hand may leave candidates of the step behind.
        const isFull = chosen.length === room;
        const last = isFull ? chosen.at(-1) : met.at(-1);
        const isLeft = isFull || met.length === STEP;
        const looked = last === undefined ? 0 : met.indexOf(last) + 1;
        const to = listed === null ? (last?.cardId ?? walkedTo) : walkedTo + looked;
        const cardIds = chosen.map(({ cardId }) => cardId);
        await inTurn.run('handOut', id, cardIds, last?.walkedAt ?? null, to, isLeft);
        return isLeft && !isFull;
      }),

    open: () => db.column('open'),
    find,
    latest: (limit) => db.rows('runs', null, limit, NAMED_AT_MOST),

    async cancel(id) {
      if (!UUID.test(id)) return null;
      await client.transaction(async (tx) => {
        const inTurn = sql.on(tx);
        await inTurn.run('lock', id);
        await inTurn.run('cancel', id);
        await inTurn.run('cancelCards', id);
      });
      return find(id);
    },
  };
}

function sourceOf(selection: ResumeSelection | MonthSelection): Source {
  const none = { cardIds: null, since: null, carrierId: null, beginning: null };
  if ('beginning' in selection) {
    const { beginning } = selection;
    return { ...none, beginning, since: dayBefore(monthStart(monthBefore(beginning))) };
  }
  if ('cardIds' in selection) return { ...none, cardIds: [...new Set(selection.cardIds)] };
  return { ...none, since: new Date(selection.sinceMs).toISOString(), carrierId: selection.carrierId };
}

/** A month begins at another time in each zone. */
function dayBefore(date: string): string {
  return new Date(Date.parse(date) - 86_400_000).toISOString();
}

function valuesOf({ cardIds, since, carrierId, beginning }: Source): SqlValue[] {
  return [cardIds, since, carrierId, beginning === null ? null : monthStart(beginning)];
}
