// Compares rings and cards in both directions and repairs differences: a card in no ring (missing), a member that is not a card
// or belongs to another ring (foreign), a card in two rings of its type (double). The initialiser calls it in its loop. The live
// store keeps the position of a pass, so the next leader continues there.
//
// A pass takes the cards in id order, then the members, ring by ring in order of phase. A step has two halves with the change
// feed between them: look() finds suspects, then all changes committed until now are applied, then heal() reads the suspects
// again. Only differences found by both halves are repaired and counted: the feed handles a card that changed in between.

import type { CardMembership } from '../../domain/cards/card.ts';
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import { sum, sumOfCounts } from '../../domain/numbers.ts';
import { CardCounts } from '../../domain/schedule/card-counts.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import type { Reconciliation, ReconciliationReason } from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { type Repairs, RingRepair } from './ring-repair.ts';
import { ringOf } from './scheduler.ts';

const CARDS_A_READ = 10_000;
/** Cards in one step of a continuous pass; one step a second. */
const SLOW_CARDS = 2_000;
/** Most buckets in one step: the buckets of a small fleet hold one card or none, so a limit on cards is not enough. */
const BUCKETS_A_STEP = 1_024;
const BUCKETS_A_READ = 32;
/** Shortest time between two passes, so that a small fleet is not compared without a pause. */
const MIN_PASS_MS = 60_000;
/** More missing cards in one step mean lost buckets: the rest is compared as fast as allowed. */
const MANY_MISSING = 16;

/** The suspects found by look(). */
export interface Suspicion {
  readonly state: Reconciliation;
  /** State of the pass after the repair of these suspects. */
  readonly next: Reconciliation;
  /** Each suspect's card as it was read; null: no such card. */
  readonly suspects: ReadonlyMap<number, CardMembership | null>;
  readonly matcher: ConfigMatcher;
}

interface ReconcilerDeps {
  readonly live: Pick<LiveStore, 'rings' | 'coordination' | 'identity' | 'now'>;
  readonly records: Pick<RecordStore, 'cards' | 'identity'> & {
    readonly stops: Pick<RecordStore['stops'], 'sweep'>;
  };
  readonly calendar: MonthCalendar;
  /** Throws when this instance no longer leads. */
  readonly requireLead: () => void;
  readonly onBegin: (reason: ReconciliationReason) => void;
  readonly onRepair: (repairs: Repairs) => void;
}

export class Reconciler {
  readonly #repair: RingRepair;

  constructor(private readonly deps: ReconcilerDeps) {
    this.#repair = new RingRepair(deps);
  }

  read(): Promise<Reconciliation> {
    return this.deps.live.coordination.reconciliation();
  }

  /**
   * @returns why all rings must be compared now (replaced store, request), or null. The state names the stores that answer now.
   * It is saved here only if no stores were known before; otherwise the pass that begins with it saves it.
   */
  async reasonToBegin(
    seen: Reconciliation,
  ): Promise<{ readonly state: Reconciliation; readonly reason: ReconciliationReason | null }> {
    const [liveIdentity, recordIdentity] = await Promise.all([
      this.deps.live.identity(),
      this.deps.records.identity(),
    ]);
    const state = { ...seen, liveIdentity, recordIdentity };
    // Release 0.2.0 stored only the beginning of the database's identity.
    if (seen.liveIdentity === '') await this.#save(state);
    else if (!`${recordIdentity}/`.startsWith(`${seen.recordIdentity}/`))
      return { state, reason: 'record_store_replaced' };
    else if (seen.liveIdentity !== liveIdentity) return { state, reason: 'live_store_replaced' };
    return { state, reason: state.requestedMs > state.answeredRequestMs ? 'requested' : null };
  }

  /**
   * Begins a fast pass, or restarts the one in progress. Saves the stores that `state` names and does not ask again: a store that
   * is replaced from now on is still a reason to begin.
   */
  async begin(state: Reconciliation, reason: ReconciliationReason): Promise<Reconciliation> {
    const now = await this.deps.live.now();
    const begun = { ...state, reason, position: 'cards:0', checked: 0, counting: '', startedAtMs: now };
    const next = { ...begun, answeredRequestMs: state.requestedMs };
    await this.#save(next);
    this.deps.onBegin(reason);
    return next;
  }

  /** @param fastCards cards in one step of a fast pass. @returns null when there is nothing to do now. */
  async look(state: Reconciliation, matcher: ConfigMatcher, fastCards: number): Promise<Suspicion | null> {
    const slow = state.reason === 'continuous';
    const now = await this.deps.live.now();
    // `abs`: after the clock was set back, the end of the last pass is in the future.
    if (state.position === '' && Math.abs(now - (state.sweptAtMs ?? 0)) < MIN_PASS_MS) return null;
    const at =
      state.position === ''
        ? { ...state, position: 'cards:0', checked: 0, counting: '', startedAtMs: now }
        : state;
    const [part = 'cards', ...rest] = at.position.split(':');
    const cards = slow ? SLOW_CARDS : fastCards;
    return part === 'cards'
      ? this.#lookAtCards(at, matcher, Number(rest[0]), cards)
      : this.#lookAtMembers(at, matcher, rest, cards);
  }

  /** Repairs the suspects that are still wrong after the changes were applied. @returns the state to continue from */
  async heal({ state: before, next, suspects, matcher }: Suspicion): Promise<Reconciliation> {
    let state = next;
    const ids = [...suspects.keys()];
    // Saved before the first repair, so that the members are counted again even if this step is interrupted.
    if (ids.length > 0 && before.healed === 0) await this.#save({ ...before, healed: ids.length });
    let found: Repairs = { missing: 0, foreign: 0, double: 0 };
    for (let from = 0; from < ids.length; from += CARDS_A_READ) {
      const part = ids.slice(from, from + CARDS_A_READ);
      found = sumOfCounts([found, await this.#repair.repair(part, suspects, matcher)]);
    }
    const healed = sum(Object.values(found));
    if (healed > 0) this.deps.onRepair(found);
    state = {
      ...state,
      healed: state.healed + healed,
      healedMissing: state.healedMissing + found.missing,
      healedForeign: state.healedForeign + found.foreign,
      healedDouble: state.healedDouble + found.double,
    };
    if (state.position === '') state = await this.#end(state, matcher);
    await this.#save(state);
    const lostMany = before.reason === 'continuous' && found.missing >= MANY_MISSING;
    return lostMany ? this.begin(state, 'members_lost') : state;
  }

  async #lookAtCards(
    state: Reconciliation,
    matcher: ConfigMatcher,
    afterId: number,
    limit: number,
  ): Promise<Suspicion> {
    const suspects = new Map<number, CardMembership>();
    const counts = new CardCounts(state.counting);
    let lastId = afterId;
    let count = 0;
    let more = true;
    while (more && count < limit) {
      const wanted = Math.min(CARDS_A_READ, limit - count);
      const cards = await this.deps.records.cards.page(lastId, wanted);
      for (const card of await this.#repair.missing(cards, matcher)) suspects.set(card.cardId, card);
      for (const card of cards) counts.add(card);
      const from = lastId;
      lastId = cards.at(-1)?.cardId ?? lastId;
      count += cards.length;
      more = cards.length === wanted;
      const passed = state.checked + count;
      const step = more ? { throughId: lastId } : { fleetCards: passed };
      for (const carrier of await this.#sweep(from, step)) counts.addInDoubt(carrier);
    }
    const position = more ? `cards:${lastId}` : ringAfter(matcher, Number.NEGATIVE_INFINITY);
    const counting = String(counts);
    const passed = more ? { counting } : { counting: '', counted: counting };
    return {
      state,
      next: { ...state, position, checked: state.checked + count, ...passed },
      suspects,
      matcher,
    };
  }

  /**
   * Walks over all cards. It also counts them, the cards that cardpoll should have stopped, and the cards with a doubtful
   * counter.
   * @param step the last step contains all remaining cards
   */
  async #sweep(afterId: number, step: { readonly throughId: number } | { readonly fleetCards: number }) {
    const month = this.deps.calendar.monthOf(await this.deps.live.now());
    const [through, fleetCards] =
      'throughId' in step ? [step.throughId, null] : [Number.MAX_SAFE_INTEGER, step.fleetCards];
    return this.deps.records.stops.sweep(afterId, through, month, fleetCards);
  }

  async #lookAtMembers(
    state: Reconciliation,
    matcher: ConfigMatcher,
    [configId, phase]: readonly string[],
    limit: number,
  ): Promise<Suspicion> {
    const suspects = new Map<number, CardMembership | null>();
    const config = matcher.configs.find(({ id }) => id === Number(configId));
    let nextPhase: number | null = config === undefined ? null : Number(phase);
    let members = 0;
    for (let buckets = 0; buckets < BUCKETS_A_STEP && members < limit; buckets += BUCKETS_A_READ) {
      if (config === undefined || nextPhase === null) break;
      const page = await this.deps.live.rings.page(ringOf(config), nextPhase, BUCKETS_A_READ);
      nextPhase = page.nextPhase;
      members += page.cardIds.length;
      const strays = await this.#repair.strays(config, page.cardIds, matcher);
      for (const [cardId, card] of strays) suspects.set(cardId, card);
    }
    const position =
      nextPhase === null ? ringAfter(matcher, Number(configId)) : `ring:${configId}:${nextPhase}`;
    return { state, next: { ...state, position }, suspects, matcher };
  }

  /**
   * Counts the members again after repairs: lost buckets took their cards with them, but left the count. Also after every fast
   * pass: the change feed may have restored lost cards before the pass reached them.
   */
  async #end(state: Reconciliation, matcher: ConfigMatcher): Promise<Reconciliation> {
    if (state.healed > 0 || state.reason !== 'continuous') {
      for (const config of matcher.configs) {
        this.deps.requireLead();
        await this.deps.live.rings.recount(ringOf(config));
      }
    }
    return { ...state, reason: 'continuous', healed: 0, sweptAtMs: await this.deps.live.now() };
  }

  async #save(state: Reconciliation): Promise<void> {
    this.deps.requireLead();
    await this.deps.live.coordination.saveReconciliation(state);
  }
}

/** The second part of a pass visits the rings in order of config id. */
function ringAfter(matcher: ConfigMatcher, configId: number): string {
  const later = matcher.configs.map(({ id }) => id).filter((id) => id > configId);
  return later.length === 0 ? '' : `ring:${Math.min(...later)}:0`;
}
