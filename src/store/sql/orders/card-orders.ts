// Loads the facts about stops and resumes of cards, and saves the decisions of src/domain/orders, all of them or none. A row that
// another caller has changed since it was loaded is not written; then everything is loaded and decided again.
import { type AuditEntry, DAEMON } from '../../../domain/audit.ts';
import type { CardMembership } from '../../../domain/cards/card.ts';
import type {
  CardOrders,
  Changes,
  JumpFacts,
  StopControlFacts,
  StopOrder,
} from '../../../domain/orders/card-orders.ts';
import { movedOn, type StopCounts } from '../../../domain/orders/stop-budget.ts';
import type { StopMode, StopRules } from '../../../domain/stops/stop.ts';
import { snakeKeys } from '../../../platform/snake-keys.ts';
import { appendAudit } from '../audit/audit.ts';
import { monthStart, withPartitions } from '../cleanup/partitions.ts';
import { jsonOf } from '../client/rows.ts';
import type { SqlClient, SqlRunner } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './card-orders.sql';

const sql = statements(file);

/** Attempts before giving up, when other callers change the same rows in the meantime. */
const ATTEMPTS = 5;

/** The single row that decides about all stops. */
interface ControlRow {
  /** null: each instance uses its setting. */
  readonly mode: StopMode | null;
  readonly counts: StopCounts;
  readonly watchedUntil: number | null;
  readonly jump: JumpFacts;
}

/** A decision about one card, with the rows to write; null: no change. */
type Decided<T> = readonly [answer: T, changes: Changes | null];

interface Decision<T> {
  readonly cardId: number;
  /** The current month, YYYY-MM; null: the card's newest month, for changes without an audit entry. */
  readonly month: string | null;
  /**
   * Whether the budget is likely to be counted: its row is then locked first. Otherwise it is locked when the decision counts it.
   */
  readonly counts: boolean;
  readonly rules?: StopRules;
  readonly decide: (facts: CardOrders, control: StopControlFacts) => Decided<T>;
}

interface Changed<T> {
  readonly answer: T;
  readonly entry: AuditEntry | null;
}

/** For callers that do not decide by mode and budget. */
const NO_RULES: StopRules = { mode: 'enforce', maxPerHour: null, maxPerDay: null };

/** The control facts without any card. */
const NO_CONTROL: StopControlFacts = {
  ...NO_RULES,
  counts: { minute: 0, byMinute: [], byQuarter: [], unwatchedLeft: 0 },
  watchedUntil: null,
  jump: { since: null, carrierId: null, acceptedAt: null, overAt: null, doubtfulUntil: null },
};

export function cardOrders(client: SqlClient) {
  return {
    /**
     * Decides about one card and saves it, in one transaction.
     * @returns the answer, and the audit entry if there is one; null: other callers changed the card each time.
     */
    change<T>(decision: Decision<T>): Promise<Changed<T> | null> {
      const { month } = decision;
      const make = () => attempts((isRepeat) => client.transaction((tx) => changed(tx, decision, isRepeat)));
      return month === null ? make() : withPartitions(client, month, make);
    },

    /** Saves stops that were decided without a lock. @returns the cards whose stops had not changed meanwhile. */
    async saveStops(stops: ReadonlyMap<number, readonly StopOrder[]>): Promise<ReadonlySet<number>> {
      return new Set(await saveStops(client, stops));
    },

    /** Removes stops that are unchanged since they were loaded. @returns their number. */
    async dropStops(stops: ReadonlyMap<number, readonly StopOrder[]>): Promise<number> {
      return (await dropStops(client, stops)).length;
    },
  };
}

type OfCard = CardOrders & CardMembership;
/** Only one row has the control. */
type FactsRow = OfCard & { readonly control: ControlRow | null };

export interface Facts {
  readonly control: StopControlFacts;
  readonly cards: readonly OfCard[];
}

/** The fact that ends holds: a jump of the readings of the whole fleet. */
export async function jumpOf(runner: SqlRunner): Promise<JumpFacts> {
  return (await sql.on(runner).one<{ control: ControlRow }>('control')).control.jump;
}

/** Rows changed between loading and saving, or the budget is counted and not locked. */
class Outdated extends Error {}

async function attempts<T>(make: (isRepeat: boolean) => Promise<T>): Promise<T | null> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      return await make(attempt > 0);
    } catch (error) {
      if (!(error instanceof Outdated)) throw error;
    }
  }
  return null;
}

async function changed<T>(
  tx: SqlRunner,
  { cardId, month, counts, rules, decide }: Decision<T>,
  isRepeat: boolean,
): Promise<Changed<T>> {
  const isLocked = counts || isRepeat;
  const { control, cards } = await factsOf(tx, [cardId], month, rules, isLocked);
  const [facts] = cards;
  const [answer, changes] = decide(facts as CardOrders, control);
  if (changes?.counts !== undefined && !isLocked) throw new Outdated();
  const entry = changes === null ? null : await save(tx, cardId, facts as CardOrders, changes);
  return { answer, entry };
}

/** @param month YYYY-MM; null: the newest month of each card. @returns the facts of each card, and of the fleet. */
export async function factsOf(
  runner: SqlRunner,
  cardIds: readonly number[],
  month: string | null,
  { mode, ...limits }: StopRules = NO_RULES,
  isLocked = false,
): Promise<Facts> {
  const db = sql.on(runner);
  const params = [cardIds, month === null ? null : monthStart(month)];
  const rows = await (isLocked
    ? db.rows<FactsRow>('lockedFacts', ...params)
    : db.rows<FactsRow>('facts', ...params));
  const [{ now, control } = { now: 0, control: null }] = rows.filter((row) => row.control !== null);
  if (control === null) return { control: NO_CONTROL, cards: [] };
  return {
    control: {
      ...{ mode: control.mode ?? mode, ...limits, jump: control.jump, watchedUntil: control.watchedUntil },
      counts: movedOn(control.counts, now),
    },
    cards: rows.map(({ control: _, ...card }) => ofMonth(card, month)),
  };
}

function ofMonth(card: OfCard, month: string | null): OfCard {
  const { newestUsage } = card;
  return month === null
    ? { ...card, month: newestUsage?.month ?? '', usage: newestUsage }
    : { ...card, month };
}

/** @throws Outdated */
async function save(
  tx: SqlRunner,
  cardId: number,
  { now, month }: CardOrders,
  { stops = [], dropped = [], resumes = [], uncountedOfRun, card, counts, audit }: Changes,
): Promise<AuditEntry | null> {
  const db = sql.on(tx);
  const isSaved =
    (stops.length === 0 ||
      (await saveStops(tx, new Map([[cardId, stops]]), counts)).length === stops.length) &&
    (dropped.length === 0 || (await dropStops(tx, new Map([[cardId, dropped]]))).length === dropped.length) &&
    (resumes.length === 0 ||
      (await db.column('saveResumes', jsonOf(resumes.map((one) => ({ ...one, cardId }))))).length ===
        resumes.length);
  if (!isSaved) throw new Outdated();
  if (uncountedOfRun !== undefined) {
    const { runId, state } = uncountedOfRun;
    const less = (one: string) => Number(state === one);
    await db.run('uncountOfRun', runId, less('resumed'), less('already_running'));
  }
  // After the stop, as everywhere, so that no two callers can deadlock.
  if (card !== undefined) await db.run('saveCard', cardId, card.iccid, card.stopped);
  if (audit === undefined) return null;
  const { by = DAEMON, action, object, before, after } = audit;
  const { name, role } = by;
  const change = { action, object, before: snakeKeys(before), after: snakeKeys(after) };
  const entry = { atMs: Math.round(now), name, role, address: null, requestId: null, ...change };
  await appendAudit(tx, month, [entry]);
  return entry;
}

async function saveStops(
  runner: SqlRunner,
  stops: ReadonlyMap<number, readonly StopOrder[]>,
  counts?: StopCounts,
): Promise<number[]> {
  const explained = [...stops].flatMap(([cardId, ofCard]) => (ofCard.some(explains) ? [cardId] : []));
  const { minute = null, byMinute = null, byQuarter = null, unwatchedLeft = null } = counts ?? {};
  const counted = [minute, byMinute, byQuarter, unwatchedLeft];
  return sql.on(runner).column<number>('saveStops', rowsOf(stops), explained, ...counted);
}

/** True when the stop explains why the card runs. The walk that counts cards over their package finds the others. */
function explains({ state, acknowledgedAt }: StopOrder): boolean {
  return state !== 'requested' || acknowledgedAt !== null;
}

function dropStops(runner: SqlRunner, stops: ReadonlyMap<number, readonly StopOrder[]>): Promise<number[]> {
  return sql.on(runner).column('dropStops', rowsOf(stops));
}

function rowsOf(stops: ReadonlyMap<number, readonly StopOrder[]>): string {
  const rows = [...stops].flatMap(([cardId, ofCard]) =>
    ofCard.map(({ month, ...stop }) => ({ cardId, month: monthStart(month), ...stop })),
  );
  return jsonOf(rows);
}
