// Brings the cards of manual triggers to the workers. Runs on the leader. The state is in the record store, so the next leader
// continues where the last one was killed. Every pass
//
//   feeds       fills the manual lists with cards that the record store hands out, a bounded number at a time;
//               triggers of a type take turns, so that a small trigger never waits for a large one;
//   takes back  removes the cards of a cancelled trigger from the list, also cards that return from a dead worker;
//   audits      every few seconds, puts owed cards that are nowhere in the live store into the list again, a bounded
//               number at a time: the store lost its data, an instance died between handing them out and adding
//               them, or they came too early for the gateway's per-card limit (card-pace.ts) and are due now.
//
// All of this is safe to repeat: a card that is in the list twice is polled twice and counted once.
import { leastIntervalSeconds, type RateLimit } from '../domain/limits/rate-limit.ts';
import { cardIdOf, manualEntry, triggerIdOf } from '../domain/manual-trigger.ts';
import { perTaskType, TASK_TYPES, TASKS, type TaskType } from '../domain/task-type.ts';
import type { Logger } from '../platform/logger.ts';
import { LoopService } from '../platform/loop.ts';
import type { ManualList, WorkQueue } from '../store/ports/live/work-queue.ts';
import type { FeedingTrigger, OwedCard, TriggerRecords } from '../store/ports/records/trigger-records.ts';
import type { LeaderDeps } from './leadership.ts';

/** The manual list is filled up to this many cards: seconds of work, and little memory. */
const LIST_CARDS = 10_000;
/** Length of the list up to which cards that came too early are put back: they may be millions at once. */
const LIST_CARDS_WITH_OWED = 50_000;
const CHUNK_CARDS = 2_500;
/** Most chunks of one type in a pass, even when few cards match, because the other types and steps wait meanwhile. */
const CHUNKS_A_PASS = 16;
/** Most cancelled triggers of each task type in a pass, and most others. */
const TRIGGERS_A_PASS = 100;
const BUSY_REST_MS = 50;
const IDLE_REST_MS = 200;
const NOT_LEADING_REST_MS = 500;
const TAKE_BACK_EVERY_MS = 1_000;
const AUDIT_EVERY_MS = 5_000;
/** A card that was handed out less than this ago may still be on its way into the list. */
const ON_ITS_WAY_MS = 5_000;
const OWED_A_CALL = 10_000;

export class TriggerFeeder extends LoopService<
  LeaderDeps & {
    readonly triggers: TriggerRecords;
    readonly work: Pick<WorkQueue, 'counts'>;
    readonly manual: ManualList;
    readonly rateLimits: readonly RateLimit[];
    readonly log: Logger;
  }
> {
  readonly name = 'trigger-feeder';
  #tookBackAt = Number.NEGATIVE_INFINITY;
  #auditedAt = Number.NEGATIVE_INFINITY;
  readonly #fedLast: Record<TaskType, string | null> = perTaskType(() => null);

  async runOnce(): Promise<number> {
    if (this.deps.fence() === null) {
      this.#auditedAt = Number.NEGATIVE_INFINITY;
      return NOT_LEADING_REST_MS;
    }
    const found = await this.deps.triggers.feeding(TRIGGERS_A_PASS);
    const cancelled = found.filter((trigger) => trigger.status === 'cancelled');
    const hungry = found.filter((trigger) => trigger.status !== 'cancelled');
    if (cancelled.length > 0) await this.#takeBack(cancelled);
    for (const taskType of TASK_TYPES) {
      const ofType = hungry.filter((trigger) => trigger.taskType === taskType);
      if (ofType.length > 0) await this.#feed(taskType, ofType);
    }
    await this.#audit();
    return hungry.length > 0 ? BUSY_REST_MS : IDLE_REST_MS;
  }

  async #feed(taskType: TaskType, triggers: readonly FeedingTrigger[]): Promise<void> {
    const { manualLength } = await this.deps.work.counts(taskType);
    let room = LIST_CARDS - manualLength;
    const share = Math.min(CHUNK_CARDS, Math.ceil(room / triggers.length));
    // Continues where the last pass ended: there may be more triggers than chunks.
    const next = triggers.findIndex(({ triggerId }) => triggerId === this.#fedLast[taskType]) + 1;
    const turns = [...triggers.slice(next), ...triggers.slice(0, next)];
    for (let chunks = 0; chunks < CHUNKS_A_PASS && room > 0; chunks += 1) {
      const trigger = turns.shift();
      if (trigger === undefined || this.deps.fence() === null) return;
      const { cardIds, more } = await this.deps.triggers.handOut(trigger.triggerId, Math.min(share, room));
      await this.#push(
        taskType,
        cardIds.map((cardId) => ({ triggerId: trigger.triggerId, cardId })),
      );
      this.#fedLast[taskType] = trigger.triggerId;
      room -= cardIds.length;
      if (more) turns.push(trigger);
    }
  }

  async #takeBack(cancelled: readonly FeedingTrigger[]): Promise<void> {
    const now = this.deps.clock.monotonic();
    if (now - this.#tookBackAt < TAKE_BACK_EVERY_MS) return;
    const { manual, triggers } = this.deps;
    for (const taskType of TASK_TYPES) {
      const ids = cancelled.filter((one) => one.taskType === taskType).map(({ triggerId }) => triggerId);
      if (ids.length === 0) continue;
      await manual.remove(taskType, ids);
      const running = await manual.running(taskType);
      for (const id of ids) {
        await triggers.takeBack(id, running.filter((entry) => triggerIdOf(entry) === id).map(cardIdOf));
      }
    }
    this.#tookBackAt = now;
  }

  async #audit(): Promise<void> {
    const now = this.deps.clock.monotonic();
    if (now - this.#auditedAt < AUDIT_EVERY_MS) return;
    for (const taskType of TASK_TYPES) {
      const lost = await this.#putBackLost(taskType);
      if (lost > 0) this.#noteQueuedAgain(taskType, lost);
    }
    this.#auditedAt = now;
  }

  #noteQueuedAgain(taskType: TaskType, cards: number): void {
    const { log, rateLimits } = this.deps;
    const fields = { task_type: taskType, cards };
    // The records do not show which of the two reasons it was.
    if (leastIntervalSeconds(rateLimits, TASKS[taskType].interface) > 0)
      log.info(fields, 'cards of manual triggers queued again: they were too early before, or lost');
    else log.warn(fields, 'lost cards of manual triggers queued again');
  }

  /** @returns the number of cards that were put into the list again. */
  async #putBackLost(taskType: TaskType): Promise<number> {
    const { triggers, manual, work } = this.deps;
    const room = LIST_CARDS_WITH_OWED - (await work.counts(taskType)).manualLength;
    let lost = 0;
    let after: OwedCard | null = null;
    while (lost < room) {
      const owed: readonly OwedCard[] = await triggers.owed(taskType, ON_ITS_WAY_MS, after, OWED_A_CALL);
      const missing = new Set(await manual.missing(taskType, owed.map(entryOf)));
      const candidates = owed.filter((card) => missing.has(entryOf(card))).slice(0, room - lost);
      // Some results may have been counted while the list was searched.
      const again = candidates.length === 0 ? [] : await triggers.handOutAgain(candidates);
      await this.#push(taskType, again);
      lost += again.length;
      after = owed.at(-1) ?? null;
      if (owed.length < OWED_A_CALL || this.deps.fence() === null) break;
    }
    return lost;
  }

  async #push(taskType: TaskType, cards: readonly OwedCard[]): Promise<void> {
    if (cards.length > 0) await this.deps.manual.push(taskType, cards.map(entryOf));
  }
}

function entryOf({ cardId, triggerId }: OwedCard): string {
  return manualEntry(cardId, triggerId);
}
