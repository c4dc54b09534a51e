// How often the gateway allows one card to be polled (a rate limit with `per_card`). Intervals of polling configs are checked when they
// are set; but polls by hand may come at any time, and the scheduled poll that follows one takes no notice of it. So every
// poll is checked against the last one in the stores: two queries a claim. Used by gate.ts. Exists only with such a limit.
import type { Card } from '../../domain/cards/card.ts';
import { leastIntervalSeconds, type RateLimit } from '../../domain/limits/rate-limit.ts';
import { triggerIdOf } from '../../domain/manual-trigger.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { FailureLog } from '../../store/ports/live/poll-stats.ts';
import type { WorkItem } from '../../store/ports/live/work-queue.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';
import type { TriggerRecords } from '../../store/ports/records/trigger-records.ts';

/** The result of a poll is in the stores after this long. */
const RECORDED_WITHIN_MS = 60_000;
/** An interval that is so many times the limit is never cut short. */
const ROOM_FOR_LATENESS = 1.1;

interface CardPaceDeps {
  readonly live: { readonly failures: Pick<FailureLog, 'last'> };
  readonly records: {
    readonly cards: Pick<CardRecords, 'lastPolls'>;
    readonly triggers: Pick<TriggerRecords, 'earlyOf'>;
  };
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Pick<Logger, 'info'>;
}

/** @returns null without a limit for the cards of this task type. */
export function cardPaceOf(
  taskType: TaskType,
  limits: readonly RateLimit[],
  deps: CardPaceDeps,
): CardPace | null {
  const everyMs = 1_000 * leastIntervalSeconds(limits, TASKS[taskType].interface);
  return everyMs === 0 ? null : new CardPace(taskType, everyMs, deps);
}

export class CardPace {
  /** When the cards of claimed items were last polled, epoch milliseconds, and triggers that wait for such a poll. */
  readonly #seen = new WeakMap<WorkItem, { readonly lastMs: number; readonly triggers: readonly string[] }>();
  /** Cards that this instance polled lately, by the monotonic clock, in order of time. */
  readonly #polledAt = new Map<number, number>();

  constructor(
    private readonly taskType: TaskType,
    private readonly everyMs: number,
    private readonly deps: CardPaceDeps,
  ) {}

  /** Reads when the cards were last polled, well or not, and which triggers had come too early for them. */
  async look(items: readonly WorkItem[]): Promise<void> {
    const cardIds = items.map(({ cardId }) => cardId);
    const { live, records } = this.deps;
    const [succeeded, failed, waiting] = await Promise.all([
      records.cards.lastPolls(this.taskType, cardIds),
      live.failures.last(this.taskType, cardIds),
      records.triggers.earlyOf(this.taskType, cardIds),
    ]);
    for (const item of items) {
      const { cardId } = item;
      const lastMs = Math.max(succeeded.get(cardId) ?? 0, failed.get(cardId)?.atMs ?? 0);
      const ofCard = waiting.filter((one) => one.cardId === cardId).map(({ triggerId }) => triggerId);
      this.#seen.set(item, { lastMs, triggers: ofCard });
    }
  }

  /**
   * @returns the triggers for which any poll of the card counts. Where the interval is hardly longer than the limit, each
   * scheduled poll would come before theirs.
   */
  triggersOf(item: WorkItem): readonly string[] {
    const own = item.lane === 'manual' ? triggerIdOf(item.member) : null;
    return this.#seen.get(item)?.triggers.filter((triggerId) => triggerId !== own) ?? [];
  }

  /**
   * @param intervalMs of scheduled polls of the card.
   * @returns milliseconds that a poll waits which comes too early; 0 when the card may be polled now.
   */
  early(item: WorkItem, { cardId, iccid }: Card, intervalMs: number, nowMs: number): number {
    const isManual = item.lane === 'manual';
    const leastMs = isManual ? this.everyMs : this.#leastMs(intervalMs);
    // The results of this instance's polls may be on their way.
    const sinceOwnMs = this.deps.clock.monotonic() - (this.#polledAt.get(cardId) ?? Number.NEGATIVE_INFINITY);
    const sinceMs = nowMs - (this.#seen.get(item)?.lastMs ?? 0);
    // By clocks that were set back since, a card may have been polled in the future: that holds no poll up.
    const lastAgoMs = Math.min(sinceOwnMs, sinceMs < -RECORDED_WITHIN_MS ? this.everyMs : sinceMs);
    if (lastAgoMs >= leastMs) return 0;
    const waitMs = this.everyMs - lastAgoMs;
    this.deps.log.info(
      { task_type: this.taskType, card_id: cardId, iccid, next_at: new Date(nowMs + waitMs).toISOString() },
      isManual ? 'poll by hand is too early and waits' : 'scheduled poll is too early and waits',
    );
    return waitMs;
  }

  /** Where the interval is hardly longer than what is allowed, a poll must not wait because the one before was late. */
  #leastMs(intervalMs: number): number {
    return Math.min(this.everyMs, Math.max(this.everyMs, intervalMs) / ROOM_FOR_LATENESS);
  }

  /** The card is polled now. */
  polled(cardId: number): void {
    const now = this.deps.clock.monotonic();
    this.#polledAt.delete(cardId);
    this.#polledAt.set(cardId, now);
    for (const [oldest, at] of this.#polledAt) {
      if (now - at <= RECORDED_WITHIN_MS) return;
      this.#polledAt.delete(oldest);
    }
  }
}
