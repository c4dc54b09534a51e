// Runs that resume cards. What concerns many cards is done in steps, each a statement of its own.
import { DAEMON } from '../../../domain/audit.ts';
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
import { resumeClaims } from './resume-claims.ts';
import file from './resumes.sql';

const sql = statements(file);

/** Stops, or cards of a list, that one step looks at: a short transaction. */
const STEP = 10_000;
/** Cards of a run that are handed out and wait, at most: cancelling it is a short transaction too. */
const WAITING_AT_MOST = 2_000;
/** Cards that are named with the reason why they were not resumed. */
const NAMED_AT_MOST = 20;
const MONTH_REASON = 'a new month began (stops.resume_at_month_start)';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface CountRow {
  readonly chosen: number;
  readonly looked: number;
  /** As text, because a number of milliseconds is not exact. */
  readonly walkedAt: string | null;
  readonly walkedTo: number;
}

export function sqlResumes(client: SqlClient): ResumeRecords {
  const db = sql.on(client);

  const walk = <Row>(name: string, ...params: readonly SqlValue[]) =>
    walkingIndexes(client, (tx) => sql.on(tx).rows<Row>(name, ...params));

  /** Counts in steps, because one statement over millions of stops would take too long. */
  async function count(source: readonly SqlValue[]): Promise<number> {
    let [total, at, place] = [0, null as string | null, null as number | null];
    for (;;) {
      const [step] = await walk<CountRow>('count', ...source, at, place, STEP);
      if (step === undefined) return total;
      total += step.chosen;
      if (step.looked < STEP) return total;
      [at, place] = [step.walkedAt, step.walkedTo];
    }
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
      if (!('cardIds' in selection)) return { total: await count(sourceOf(selection)), skipped: 0 };
      const cardIds = [...new Set(selection.cardIds)];
      let total = 0;
      for (let from = 0; from < cardIds.length; from += STEP) {
        total += await count(sourceOf({ cardIds: cardIds.slice(from, from + STEP) }));
      }
      return { total, skipped: cardIds.length - total };
    },

    async create({ selection, expected, by, reason, stopAgain }) {
      const params = [...sourceOf(selection), 0, expected, reason, by.name, by.role, stopAgain];
      return (await created(params)) as ResumeRun;
    },

    createForMonth({ beginning }, expected, spreadMs) {
      const { name, role } = DAEMON;
      return created([...sourceOf({ beginning }), spreadMs, expected, MONTH_REASON, name, role, false]);
    },

    hasRunFor: ({ beginning }) => db.hasRow('ofMonth', monthStart(beginning)),

    handOut: (id) =>
      walkingIndexes(client, async (tx) => {
        const inTurn = sql.on(tx);
        await inTurn.run('lock', id);
        return (await inTurn.scalar<boolean>('handOut', id, WAITING_AT_MOST, STEP)) ?? false;
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

/** What the cards of a run are chosen from: card ids, since, carrier, month that begins. */
function sourceOf(selection: ResumeSelection | MonthSelection): SqlValue[] {
  if ('beginning' in selection) return [null, null, null, monthStart(selection.beginning)];
  return 'cardIds' in selection
    ? [[...new Set(selection.cardIds)], null, null, null]
    : [null, selection.sinceMs, selection.carrierId, null];
}
