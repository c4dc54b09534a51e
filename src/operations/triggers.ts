// Manual triggers: create one for a card, a list or a condition, show its progress, cancel it. Used by the admin API. The first
// cards are put into the manual list here, so that workers can begin at once; the leader adds the rest, and lost cards. Triggers
// can be created and cancelled while the live store is unavailable: they are durable, and the leader later adds missing cards to
// the list, and removes those of cancelled triggers.
import { randomBytes } from 'node:crypto';
import type { Actor } from '../domain/audit.ts';
import { dated } from '../domain/date-of.ts';
import {
  type CardSelection,
  EARLY_COUNTED,
  type ManualTrigger,
  manualEntry,
  triggerIdOf,
} from '../domain/manual-trigger.ts';
import { type PageRequest, type SliceOf, sliceOf } from '../domain/page.ts';
import { TASK_TYPES, TASKS, type TaskType } from '../domain/task-type.ts';
import { CardpollError, nullIfUnavailable } from '../platform/errors.ts';
import type { BatchReport, CancelledTriggers, SelectionCount, TriggerReport } from '../resources/triggers.ts';
import type { EarlyCards, NewTrigger, TriggerRecords } from '../store/ports/records/trigger-records.ts';
import type { OperationDeps } from './deps.ts';
import { requireOffered } from './requirements.ts';

const WELL_FORMED_ID = /^[\x21-\x7e]{1,64}$/;

/** Number of cards that are put into the manual list without waiting for the leader. */
const AT_ONCE = 1_000;

type TriggerDeps = Pick<OperationDeps, 'live' | 'records' | 'audit' | 'offers' | 'limits'>;

/** New triggers are refused with CardpollError `conflict` when the gateway does not offer the interface that they poll. */
export class TriggerOperations {
  constructor(private readonly deps: TriggerDeps) {}

  /** @throws CardpollError `not_found` for an unknown card. */
  async single(actor: Actor, taskType: TaskType, cardId: number): Promise<TriggerReport> {
    return this.#create(actor, taskType, async () => {
      const known = await this.deps.records.triggers.knownCards([cardId]);
      if (known.length === 0) {
        throw new CardpollError('not_found', 'card_not_found', `there is no card ${cardId}`);
      }
      return { cards: { kind: 'single', cardIds: [cardId] } };
    });
  }

  /** Repeated ids count once. */
  async batch(actor: Actor, taskType: TaskType, cardIds: readonly number[]): Promise<BatchReport> {
    return this.#create(actor, taskType, async () => {
      const distinct = [...new Set(cardIds)];
      const known = new Set(await this.deps.records.triggers.knownCards(distinct));
      return {
        cards: { kind: 'batch', cardIds: distinct.filter((cardId) => known.has(cardId)) },
        unknownCardIds: distinct.filter((cardId) => !known.has(cardId)),
      };
    });
  }

  /** Triggers every card that matches now or when its turn comes; without a criterion, the whole fleet. */
  async byCondition(actor: Actor, taskType: TaskType, selection: CardSelection): Promise<TriggerReport> {
    return this.#create(actor, taskType, async () => {
      // Checked before the expensive count of the cards, and again when the trigger is created.
      await this.#requireRoomForCondition(this.deps.records.triggers, taskType);
      const { matching: total, estimated: totalEstimated } = await this.count(selection);
      return { cards: { kind: 'by_condition', selection, total, totalEstimated } };
    });
  }

  /** Counts the cards that a condition selects. */
  async count(selection: CardSelection): Promise<SelectionCount> {
    const { rows, estimated } = await this.deps.records.triggers.countSelected(selection);
    return { matching: rows, estimated };
  }

  /** Running cards continue. @throws CardpollError `not_found` for an unknown id, `conflict` for a finished trigger. */
  async cancel(actor: Actor, triggerId: string): Promise<TriggerReport> {
    const { status } = await this.#find(triggerId);
    const cancelled = await this.deps.audit.change(actor, async ({ triggers }, note) => {
      const after = await triggers.cancel(triggerId);
      if (after === null) {
        throw new CardpollError(
          'conflict',
          'trigger_finished',
          `manual trigger ${triggerId} has already ended`,
        );
      }
      const object = `trigger ${triggerId}`;
      note({ action: 'trigger.cancel', object, before: { status }, after: { status: after.status } });
      return after;
    });
    const { manual } = this.deps.live;
    await nullIfUnavailable(manual.remove(cancelled.taskType, [triggerId]));
    const running = await nullIfUnavailable(this.#running([cancelled]));
    return reportOf(cancelled, running?.get(triggerId) ?? 0, undefined);
  }

  /** @returns what `cancelAll` would cancel. @param taskType null: every task type */
  openTotals(taskType: TaskType | null): Promise<CancelledTriggers> {
    return this.deps.records.triggers.openTotals(taskType);
  }

  /** Cancels every open trigger; running cards continue. @param taskType null: of every task type */
  async cancelAll(actor: Actor, taskType: TaskType | null): Promise<CancelledTriggers> {
    let cancelled: Awaited<ReturnType<TriggerRecords['cancelAll']>> = [];
    const totals = await this.deps.audit.change(actor, async ({ triggers }, note) => {
      cancelled = await triggers.cancelAll(taskType);
      const cards = cancelled.reduce((sum, trigger) => sum + trigger.cards, 0);
      const after = { triggers: cancelled.length, cards };
      if (cancelled.length > 0) {
        const object = taskType === null ? 'triggers' : `task_type ${taskType}`;
        note({ action: 'trigger.cancel_all', object, before: null, after });
      }
      return after;
    });
    for (const type of TASK_TYPES) {
      const ids = cancelled.filter((one) => one.taskType === type).map(({ triggerId }) => triggerId);
      if (ids.length > 0) await nullIfUnavailable(this.deps.live.manual.remove(type, ids));
    }
    return totals;
  }

  /** @throws CardpollError `not_found` for an unknown id. */
  async show(triggerId: string): Promise<TriggerReport> {
    return (await this.#reports([await this.#find(triggerId)]))[0] as TriggerReport;
  }

  /** @returns triggers, newest first. */
  async list(page: PageRequest): Promise<SliceOf<TriggerReport>> {
    const { items, total } = await this.deps.records.triggers.list(sliceOf(page));
    return { items: await this.#reports(items), total };
  }

  /** @param choose selects the cards before the turn; its other results become part of the report. */
  async #create<Chosen extends Pick<NewTrigger, 'cards'>>(
    actor: Actor,
    taskType: TaskType,
    choose: () => Promise<Chosen>,
  ): Promise<TriggerReport & Omit<Chosen, 'cards'>> {
    requireOffered(this.deps.offers, TASKS[taskType].interface);
    // Stays empty for a repeat: the first attempt or the leader puts its cards into the manual list.
    let handedOut: readonly number[] = [];
    const { trigger, besides } = await this.deps.audit.prepared(
      actor,
      choose,
      async (chosen, records, note) => {
        const { triggers } = records;
        const { cards, ...besides } = chosen;
        const byCondition = cards.kind === 'by_condition';
        await this.#requireRoom(triggers);
        if (byCondition) await this.#requireRoomForCondition(triggers, taskType);
        const triggerId = randomBytes(8).toString('hex');
        const created = await triggers.create({ triggerId, taskType, cards }, byCondition ? 0 : AT_ONCE);
        const { kind, selection, total, totalEstimated } = created.trigger;
        const after = { kind, taskType, selection, total, totalEstimated, ...onlyCardOf(cards) };
        note({ action: 'trigger.create', object: `trigger ${triggerId}`, before: null, after });
        handedOut = created.cardIds;
        return { trigger: created.trigger, besides };
      },
    );
    const entries = handedOut.map((cardId) => manualEntry(cardId, trigger.triggerId));
    if (entries.length > 0) await nullIfUnavailable(this.deps.live.manual.push(taskType, entries));
    return { ...reportOf(trigger, 0, undefined), ...besides };
  }

  /** Called in a transaction that runs alone, so that two changes cannot both take the last free place. */
  async #requireRoom(triggers: TriggerRecords): Promise<void> {
    if ((await triggers.countOpen()) < this.deps.limits.maxOpenTriggers) return;
    const message = `${this.deps.limits.maxOpenTriggers} manual triggers are already open`;
    throw new CardpollError('conflict', 'too_many_triggers', message, {
      hint: 'wait for some or cancel them (`cardpoll trigger list`); the limit is api.max_open_triggers',
    });
  }

  async #requireRoomForCondition(triggers: TriggerRecords, taskType: TaskType): Promise<void> {
    const max = this.deps.limits.maxOpenConditionTriggers;
    if ((await triggers.countOpenConditions(taskType)) < max) return;
    const message = `${max} triggers by condition are already open for ${taskType}`;
    throw new CardpollError('conflict', 'too_many_condition_triggers', message, {
      hint: 'wait for some, or cancel them (`cardpoll trigger cancel --all`)',
    });
  }

  async #find(triggerId: string): Promise<ManualTrigger> {
    const trigger = WELL_FORMED_ID.test(triggerId) ? await this.deps.records.triggers.find(triggerId) : null;
    if (trigger === null) {
      throw new CardpollError('not_found', 'trigger_not_found', `there is no manual trigger ${triggerId}`, {
        hint: '`cardpoll trigger list` shows the ids',
      });
    }
    return trigger;
  }

  async #reports(triggers: readonly ManualTrigger[]): Promise<TriggerReport[]> {
    const open = triggers.filter(({ finishedAtMs }) => finishedAtMs === null);
    const ids = open.map(({ triggerId }) => triggerId);
    const [running, early] = await Promise.all([
      this.#running(triggers),
      ids.length === 0 ? [] : this.deps.records.triggers.early(ids, EARLY_COUNTED),
    ]);
    const earlyOf = new Map(early.map((cards) => [cards.triggerId, cards]));
    return triggers.map((trigger) =>
      reportOf(trigger, running.get(trigger.triggerId) ?? 0, earlyOf.get(trigger.triggerId)),
    );
  }

  /** @returns the number of running cards by trigger, for triggers that may have any. */
  async #running(triggers: readonly ManualTrigger[]): Promise<Map<string, number>> {
    const open = triggers.filter(({ status }) => status !== 'completed');
    const running = new Map<string, number>();
    for (const taskType of TASK_TYPES.filter((type) => open.some((trigger) => trigger.taskType === type))) {
      for (const entry of await this.deps.live.manual.running(taskType)) {
        const triggerId = triggerIdOf(entry);
        if (triggerId !== null) running.set(triggerId, (running.get(triggerId) ?? 0) + 1);
      }
    }
    return running;
  }
}

function reportOf(trigger: ManualTrigger, leasedCards: number, early: EarlyCards | undefined): TriggerReport {
  // A card is counted shortly before its lease ends.
  const left = trigger.total - trigger.succeeded - trigger.failed;
  const running = Math.max(0, Math.min(leasedCards, left));
  return {
    ...dated(trigger),
    waiting: trigger.status === 'cancelled' ? 0 : left - running,
    early: early?.cards ?? 0,
    earlyUntil: early === undefined ? null : new Date(early.untilAtMs),
    running,
  };
}

/** A batch may have thousands of cards, so the audit trail stores their number. */
function onlyCardOf(cards: NewTrigger['cards']): { cardId?: number | undefined } {
  return cards.kind === 'single' ? { cardId: cards.cardIds[0] } : {};
}
