// Stops as operators see them, and their decisions: they release and dismiss held stops, and order the stop of a card. Also the
// facts that decide about all stops. ../orders/orders.ts stops the cards over their package.

import { sum } from '../../../domain/numbers.ts';
import type { JumpFacts, StopOrder } from '../../../domain/orders/card-orders.ts';
import { holdEnd, isUnwanted, runsOver } from '../../../domain/orders/decide.ts';
import { movedOn, type StopCounts } from '../../../domain/orders/stop-budget.ts';
import { stopOrdered } from '../../../domain/orders/stop-outcomes.ts';
import { stoppedWithin } from '../../../domain/orders/stopped-within.ts';
import type { SliceOf } from '../../../domain/page.ts';
import type { OverCard } from '../../../domain/results/fleet-level.ts';
import { SEEN_WITHIN_MS } from '../../../domain/results/usage-growth.ts';
import type { CarrierCards } from '../../../domain/schedule/card-counts.ts';
import {
  OVER_RUNNING_COUNTED,
  OVER_RUNNING_GRACE_MS,
  OVER_RUNNING_SHOWN,
  SPARING_STATES,
  STOP_STATES,
  STOPS_COUNTED,
  type StopState,
  UNCONFIRMED_AFTER_MS,
  UNCONFIRMED_STOPS_COUNTED,
} from '../../../domain/stops/stop.ts';
import { CardpollError } from '../../../platform/errors.ts';
import type {
  CardOfJump,
  CardStop,
  ListedStop,
  StopControl,
  StopControlRecords,
  StopDecision,
  StopFilter,
  StopRecords,
} from '../../ports/records/stop-records.ts';
import { monthStart } from '../cleanup/partitions.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import { walkingIndexes } from '../client/transaction-bounds.ts';
import { cardOrders, type Facts, factsOf, jumpOf } from '../orders/card-orders.ts';
import { stopClaims } from '../orders/orders.ts';
import { withinOf } from './stopped-within.ts';
import file from './stops.sql';

const sql = statements(file);

/** Stops that one statement releases or dismisses: a short transaction. */
const DECIDED_AT_ONCE = 10_000;
/** Number of cards that show whether the fleet's readings are on another level. */
const JUMP_SAMPLE = 200;

/** Filters of lists in addition to the states. */
const FURTHER_FILTERS = ['spared', 'released', 'within'] as const;

/** The month of a card's stop that a filter matches, by the rules; null: none. */
type MonthOf = (card: Facts['cards'][number], jump: JumpFacts) => string | null;
const MONTH_OF: Readonly<Record<string, MonthOf | undefined>> = {
  spared: (card, jump) => (runsOver(card, jump) === 'spared' ? card.month : null),
  within: (card) => stoppedWithin(card)?.month ?? null,
};

/** The states that a list's filter matches. */
function statesOf(filter: StopFilter['state']): readonly StopState[] {
  if (filter === null) return STOP_STATES;
  if (filter === 'spared') return SPARING_STATES;
  if (filter === 'within') return ['done'];
  return [filter === 'released' ? 'requested' : filter];
}

/** The findings of one step of the walk. */
interface OddCards {
  readonly cardIds: readonly number[];
  readonly inDoubt: readonly CarrierCards[];
}

export function sqlStops(client: SqlClient): StopRecords {
  const db = sql.on(client);
  const orders = cardOrders(client);

  /** Adds the end of the hold to held stops. */
  async function withHolds<Stop extends CardStop>(stops: readonly Stop[]): Promise<Stop[]> {
    const jump = await jumpOf(client);
    return stops.map((stop) => ({ ...stop, ...holdOf(stop, jump) }));
  }

  /** The stops that still match: a later reading, or a change of the card, may have ended the match. */
  async function stillSo(stops: readonly ListedStop[], monthOf: MonthOf): Promise<ListedStop[]> {
    const { cards, control } = await factsOf(client, [...new Set(stops.map(({ cardId }) => cardId))], null);
    const months = new Map(cards.map((card) => [card.cardId, monthOf(card, control.jump)]));
    return withHolds(stops.filter(({ cardId, month }) => months.get(cardId) === month));
  }

  /** @returns the card ids. */
  const decide = (name: string, cardIds: readonly number[] | null, { by, reason }: StopDecision) =>
    walkingIndexes(client, (tx) => sql.on(tx).column<number>(name, cardIds, by, reason, DECIDED_AT_ONCE));

  return {
    ...stopClaims(client),

    async list({ state, sinceMs, untilMs = null, carrierId }, slice) {
      const asked = (name: StopFilter['state']) => state === name;
      const filter = [statesOf(state), sinceMs, carrierId, ...FURTHER_FILTERS.map(asked), untilMs];
      const page: SliceOf<ListedStop> = await db.slice('page', 'countPage', filter, slice);
      const monthOf = MONTH_OF[state ?? ''];
      const items = monthOf === undefined ? await withHolds(page.items) : await stillSo(page.items, monthOf);
      return { items, total: page.total - (page.items.length - items.length) };
    },

    ofCard: async (cardId, limit) => withHolds(await db.rows<CardStop>('ofCard', cardId, limit)),
    unconfirmed: () => db.count('unconfirmed', UNCONFIRMED_STOPS_COUNTED, UNCONFIRMED_AFTER_MS),
    async sweep(afterCardId, throughCardId, month, fleetCards) {
      const range = [afterCardId, throughCardId, monthStart(month)];
      return walkingIndexes(client, async (tx) => {
        const { cardIds, inDoubt } = await sql.on(tx).one<OddCards>('oddInRange', ...range);
        const { cards, control } = await factsOf(tx, cardIds, month);
        const over = cards.filter((card) => runsOver(card, control.jump) === 'over_running');
        const overIds = over.map(({ cardId }) => cardId);
        await sql.on(tx).run('noteOdd', ...range, fleetCards, overIds, ...withinOf(cards));
        return inDoubt;
      });
    },
    overRunning: () =>
      db.first('overRunning', OVER_RUNNING_GRACE_MS, OVER_RUNNING_COUNTED, OVER_RUNNING_SHOWN),
    release: (cardIds, decision) => decide('release', cardIds, decision),
    dismiss: (cardIds, decision) => decide('dismiss', cardIds, decision),
    holdAgain: ({ by, reason }, sinceMs) =>
      walkingIndexes(client, (tx) => sql.on(tx).column('holdAgain', by, reason, sinceMs, DECIDED_AT_ONCE)),

    async order(cardId, month, { by, reason }) {
      await db.run('lockHandOut');
      const order = { by: { name: by }, reason };
      const changed = await orders.change({
        ...{ cardId, month, counts: false },
        decide(facts) {
          const changes = stopOrdered(facts, order);
          return [changes === null ? ('unknown_card' as const) : ('ordered' as const), changes];
        },
      });
      if (changed === null)
        throw new CardpollError('busy', 'card_changing', `card ${cardId} is being changed`);
      return changed.answer;
    },

    async dropUnwanted(afterCardId, limit) {
      const cardIds = await db.column<number>('open', afterCardId, limit);
      const { cards } = await factsOf(client, [...new Set(cardIds)], null);
      const unwanted = cards.flatMap((card): Array<[number, StopOrder[]]> => {
        const stops = card.stops.filter((stop) => isUnwanted(stop, card));
        return stops.length === 0 ? [] : [[card.cardId, stops]];
      });
      const dropped = unwanted.length === 0 ? 0 : await orders.dropStops(new Map(unwanted));
      return { lastCardId: cardIds.at(-1) ?? null, dropped };
    },
  };
}

function holdOf({ state, heldBy, requestedAtMs }: CardStop, jump: JumpFacts) {
  if (state !== 'held') return { heldFor: null, heldUntilMs: null };
  const { heldFor, heldUntil } = holdEnd({ heldBy, requestedAt: requestedAtMs }, jump);
  return { heldFor, heldUntilMs: heldUntil === null ? null : Math.round(heldUntil) };
}

interface ControlRow
  extends Pick<StopControl, 'setMode' | 'jump' | 'waitsForWatch' | 'observed' | 'released' | 'resumedDay'> {
  readonly now: number;
  readonly counts: StopCounts;
  readonly jumpFacts: JumpFacts;
  /** Stops of this minute and the previous one that operators released or ordered. */
  readonly ordered: number;
  /** Held stops by cause, with the time of the first one. */
  readonly holds: ReadonlyArray<Pick<StopOrder, 'heldBy' | 'requestedAt'> & { readonly stops: number }>;
}

function controlOf({ now, counts, jumpFacts, ordered, holds, ...control }: ControlRow): StopControl {
  const { byMinute, byQuarter } = movedOn(counts, now);
  const ends = holds.map((hold) => ({ ...hold, ...holdEnd(hold, jumpFacts) }));
  const untils = ends.flatMap(({ heldBy, heldUntil }) => (heldBy === 'budget_hour' ? (heldUntil ?? []) : []));
  return {
    ...control,
    doneHour: sum(byMinute),
    doneDay: sum(byQuarter),
    doneTwoMinutes: sum(byMinute.slice(-2)) - ordered,
    quarterOfYesterday: Math.max(...byQuarter.slice(0, 5)),
    held: sum(ends.map(({ stops }) => stops)),
    heldForOperator: sum(ends.map(({ heldFor, stops }) => (heldFor === 'operator' ? stops : 0))),
    heldUntilMs: untils.length === 0 ? null : Math.round(Math.min(...untils)),
  };
}

/** The mode of stops, their recent number and jumps of the readings: one row (migration 0014), and counts of stops. */
export function sqlStopControl(client: SqlClient): StopControlRecords {
  const db = sql.on(client);
  return {
    read: async () => controlOf(await db.one<ControlRow>('readControl', STOPS_COUNTED)),
    setMode: (mode, by, reason) => db.run('setMode', mode, by, reason),
    jump: () => db.first('readJump'),
    overSinceJump: () =>
      walkingIndexes(client, (tx) =>
        sql.on(tx).rows<CardOfJump>('overSinceJump', JUMP_SAMPLE, SEEN_WITHIN_MS),
      ),
    overSince: (windowMs) =>
      walkingIndexes(client, (tx) => sql.on(tx).rows<OverCard>('overSince', JUMP_SAMPLE, windowMs)),
    unwatchedLeft: () => db.count('unwatchedLeft'),
    noteWatched: (left, before, forMs) => db.run('noteWatched', left, before, forMs),
    noteStep: () => db.hasRow('noteStep'),
    beginJump: ({ factor, baselineMbPerHour, recentMbPerHour, carrierId, isStep }) =>
      db.hasRow('beginJump', factor, baselineMbPerHour, recentMbPerHour, carrierId, isStep),
    endJump: (ends) => db.hasRow('endJump', ends === 'back'),
  };
}
