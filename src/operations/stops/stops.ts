// Stops of cards: lists them, releases or dismisses held ones, and orders the stop of one card. Also the mode of stops: whether
// cards over their package are stopped, or cardpoll only records which would be. Used by the admin API.
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import { type PageRequest, type SliceOf, sliceOf } from '../../domain/page.ts';
import { STOPS_COUNTED, type StopMode, type StopSettings } from '../../domain/stops/stop.ts';
import { CardpollError } from '../../platform/errors.ts';
import type {
  DismissReport,
  OrderedStopReport,
  ReleaseReport,
  StopModeReport,
  StopReport,
} from '../../resources/stops.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type {
  StopControl,
  StopDecision,
  StopFilter,
  StopRecords,
} from '../../store/ports/records/stop-records.ts';
import type { OperationDeps } from '../deps.ts';
import {
  type CardList,
  type ExpectedVersion,
  findCard,
  requireOffered,
  requireVersion,
  versionOf,
  wrongCards,
} from '../requirements.ts';

type Control = Pick<RecordStore, 'stopControl'>;

interface StopDeps extends Pick<OperationDeps, 'records' | 'audit' | 'offers' | 'clock' | 'calendar'> {
  /** Their mode is in force until an operator sets one. */
  readonly stops: StopSettings;
}

/** Uncalled stops for an operator's decision: those of a list, or all. */
interface HeldStops {
  readonly cardIds?: CardList | undefined;
  readonly all?: true | undefined;
  readonly reason: string;
}

type Verb = 'release' | 'dismiss';

interface Decided {
  /** Number of stops; a card may have one in each month. */
  readonly count: number;
  readonly notHeld: readonly number[];
}

export class StopOperations {
  constructor(private readonly deps: StopDeps) {}

  async mode(): Promise<StopModeReport> {
    return this.#modeOf(this.deps.records);
  }

  /**
   * Sets the mode for the whole fleet, in force on every instance within a second. Mode enforce also accepts a jump of the
   * readings. @throws CardpollError `conflict` when the mode does not have the expected version.
   */
  setMode(actor: Actor, mode: StopMode, reason: string, expected: ExpectedVersion): Promise<StopModeReport> {
    return this.deps.audit.change(actor, async (records, note) => {
      const before = await this.#modeOf(records);
      requireVersion(modeVersion(before), expected);
      await records.stopControl.setMode(mode, actor.name, reason);
      const after = await this.#modeOf(records);
      // Not by the earlier jump: the leader may have found another one since then.
      const accepts = after.jump !== null && after.jump.acceptedAt?.getTime() === after.since?.getTime();
      note({
        action: 'stops.mode',
        object: 'stops',
        before: { mode: before.mode, source: before.source },
        after: { mode, source: after.source, reason, ...(accepts ? { acceptedJump: after.jump } : {}) },
      });
      return after;
    });
  }

  /** @returns stops, the latest first. */
  async list(filter: StopFilter, page: PageRequest): Promise<SliceOf<StopReport>> {
    const { items, total } = await this.deps.records.stops.list(filter, sliceOf(page));
    return { items: items.map(dated), total };
  }

  /** Releases held stops. @throws CardpollError `invalid`; `conflict` in mode observe, or if no stop is offered. */
  async release(actor: Actor, held: HeldStops): Promise<ReleaseReport> {
    const cardIds = cardsOf(held);
    requireOffered(this.deps.offers, 'stop');
    const { count, notHeld } = await this.#decide('release', actor, cardIds, held.reason);
    return { released: count, notHeld };
  }

  /**
   * Undoes a release: its stops that were not called are held again. @throws CardpollError `conflict` when all were called, or
   * were decided in another way.
   */
  async holdAgain(actor: Actor, object: string, released: StopDecision, sinceMs: number): Promise<void> {
    for (let step = 0; ; step += 1) {
      const count = await this.deps.audit.change(actor, async ({ stops }, note) => {
        const cards = (await stops.holdAgain(released, sinceMs)).length;
        // One entry for the request, as for a release.
        if (step === 0 && cards > 0) {
          note({
            action: 'stops.hold',
            object,
            before: { reason: released.reason },
            after: { state: 'held' },
          });
        }
        return cards;
      });
      if (count > 0) continue;
      if (step > 0) return;
      throw new CardpollError(
        'conflict',
        'not_undoable',
        'no stop of this release is left that was not called',
        {
          hint: '`cardpoll stops resume` takes stops back that were made',
        },
      );
    }
  }

  /** Dismisses uncalled stops: held, observed, released or ordered; in any mode. @throws CardpollError `invalid`. */
  async dismiss(actor: Actor, held: HeldStops): Promise<DismissReport> {
    const { count, notHeld } = await this.#decide('dismiss', actor, cardsOf(held), held.reason);
    return { dismissed: count, notHeld };
  }

  /**
   * Orders the stop of a card, whatever it has used.
   * @throws CardpollError `not_found`; `conflict` in mode observe, or if no stop is offered.
   */
  async order(actor: Actor, cardIdOrIccid: string, reason: string): Promise<OrderedStopReport> {
    const { records, audit, calendar, clock } = this.deps;
    requireOffered(this.deps.offers, 'stop');
    const find = () => findCard(records.cards, cardIdOrIccid);
    return audit.prepared(actor, find, async ({ cardId }, inTurn, note) => {
      const month = calendar.monthOf(clock.now());
      await this.#requireEnforce(inTurn);
      const answer = await inTurn.stops.order(cardId, month, { by: actor.name, reason });
      if (answer === 'unknown_card') {
        throw new CardpollError('not_found', 'card_not_found', `there is no card ${cardIdOrIccid}`);
      }
      note({ action: 'stops.order', object: `card ${cardId}`, before: null, after: { month, reason } });
      return { cardId, state: 'requested' };
    });
  }

  async #modeOf({ stopControl }: Control): Promise<StopModeReport> {
    const { setMode, jump } = await stopControl.read();
    const setting = this.deps.stops.mode;
    return {
      ...modeOf(setMode, setting),
      setting,
      jump: jump === null ? null : { ...dated(jump), sample: await sampleOf(stopControl) },
    };
  }

  /** @throws CardpollError `conflict` while stops are only observed. */
  async #requireEnforce(records: Control): Promise<void> {
    const { mode } = await this.#modeOf(records);
    if (mode === 'enforce') return;
    throw new CardpollError(
      'conflict',
      'stops_observed',
      'the mode of stops is observe: no card is stopped',
      { hint: 'first set the mode: cardpoll stops mode enforce --reason "..."' },
    );
  }

  /** In steps, each a separate turn: a repeat continues with the first step that was not made. */
  async #decide(verb: Verb, actor: Actor, cardIds: CardList | null, reason: string): Promise<Decided> {
    const decided = { count: 0, notHeld: [] as number[] };
    // The initial number, because stops that are held meanwhile need not be waited for.
    let held = 0;
    let enough = Number.POSITIVE_INFINITY;
    for (let from = 0; cardIds === null ? decided.count < enough : from < cardIds.length; from += STEP) {
      const isFirst = from === 0;
      const ids = cardIds?.slice(from, from + STEP) ?? null;
      const step = await this.deps.audit.change(actor, async (records, note) => {
        if (isFirst && verb === 'release') await this.#requireEnforce(records);
        const waiting = isFirst ? await records.stopControl.read() : { held, observed: 0 };
        const made = await decideStep(records.stops, verb, ids, { by: actor.name, reason });
        // One entry for the request. A request without effect leaves no trace.
        if (decided.count === 0 && made.count > 0) {
          note({
            action: `stops.${verb}`,
            object: cardIds?.length === 1 ? `card ${cardIds[0]}` : 'stops',
            before:
              verb === 'release'
                ? { held: waiting.held }
                : { held: waiting.held, observed: waiting.observed },
            after: { cards: cardIds?.length ?? 'all', reason },
          });
        }
        // Zero may also mean that the holds of this step's stops have just ended.
        const isLast =
          made.count === 0 && (verb === 'dismiss' || (await records.stopControl.read()).held === 0);
        return { ...made, held: waiting.held, isLast };
      });
      held = step.held;
      decided.count += step.count;
      decided.notHeld.push(...step.notHeld);
      if (cardIds === null && step.isLast) break;
      if (isFirst && verb === 'release' && held < STOPS_COUNTED) enough = held;
    }
    return decided;
  }
}

/** A sample by which an operator compares the readings before and after. */
async function sampleOf(stopControl: Control['stopControl']) {
  const over = await stopControl.overSinceJump();
  return over.slice(0, SAMPLED).map(({ cardId, carrierId, beforeMb, shownMb }) => ({
    ...{ cardId, carrierId, beforeMb, shownMb },
  }));
}

/** @returns the version of the operator's settings; a jump of the readings begins and ends by itself. */
export function modeVersion({ mode, source, since }: StopModeReport): string {
  return versionOf([mode, source, since]);
}

function modeOf(set: StopControl['setMode'], setting: StopMode) {
  if (set === null) return { mode: setting, source: 'setting', since: null, by: null, reason: null } as const;
  return { ...dated(set), source: 'operator' as const };
}

/** @returns each card once; null: all. @throws CardpollError `invalid`. */
function cardsOf({ cardIds, all }: HeldStops): CardList | null {
  if (cardIds !== undefined && all) throw wrongCards('all', 'is not taken together with card_ids');
  if (cardIds === undefined && !all) throw wrongCards('cardIds', 'is required, or all instead of it');
  return cardIds === undefined ? null : [...new Set(cardIds)];
}

/** Number of cards of a jump that are shown. */
const SAMPLED = 10;
/** Number of stops that the records decide about at a time. */
const STEP = 10_000;

/** @param ids null: any. */
async function decideStep(
  stops: StopRecords,
  verb: Verb,
  ids: CardList | null,
  decision: StopDecision,
): Promise<Decided> {
  if (ids === null) return { count: (await stops[verb](null, decision)).length, notHeld: [] };
  const decided = new Set<number>();
  let count = 0;
  // A card may have held stops of two months.
  for (
    let some = await stops[verb](ids, decision);
    some.length > 0;
    some = await stops[verb](ids, decision)
  ) {
    for (const cardId of some) decided.add(cardId);
    count += some.length;
  }
  return { count, notHeld: ids.filter((cardId) => !decided.has(cardId)) };
}
