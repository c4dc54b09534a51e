// How often the gateway allows one card to be polled (a rate limit with `per_card`). Intervals of polling configs are checked when they
// are set; this file is for polls by hand, which may come at any time. Used by worker.ts. Exists only with such a limit.
import type { Card } from '../../domain/cards/card.ts';
import { leastIntervalSeconds, type RateLimit } from '../../domain/limits/rate-limit.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { FailureLog } from '../../store/ports/live/failure-log.ts';
import type { WorkItem } from '../../store/ports/live/work-queue.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';
import type { Retry } from './failed-poll.ts';

/** The result of a poll is in the stores after this long. */
const RECORDED_WITHIN_MS = 60_000;

/** The poll was not made; its trigger waits. */
interface EarlyEnding {
  readonly isEarly: true;
  readonly retry: Retry;
}

interface CardPaceDeps {
  readonly cards: Pick<CardRecords, 'lastPolls'>;
  readonly failures: Pick<FailureLog, 'last'>;
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
  /** When cards that are to be polled by hand may be polled, epoch milliseconds. */
  readonly #allowedAtMs = new Map<number, number>();
  /** Cards that this instance polled lately, by the monotonic clock, in order of time. */
  readonly #polledAt = new Map<number, number>();

  constructor(
    private readonly taskType: TaskType,
    private readonly everyMs: number,
    private readonly deps: CardPaceDeps,
  ) {}

  /** Reads when the cards that are to be polled by hand were last polled, well or not. */
  async look(items: readonly WorkItem[]): Promise<void> {
    const cardIds = items.filter(({ lane }) => lane === 'manual').map(({ cardId }) => cardId);
    if (cardIds.length === 0) return;
    const { cards, failures } = this.deps;
    const [succeeded, failed] = await Promise.all([
      cards.lastPolls(this.taskType, cardIds),
      Promise.all(cardIds.map((cardId) => failures.last(this.taskType, cardId))),
    ]);
    for (const [i, cardId] of cardIds.entries()) {
      const lastMs = Math.max(succeeded.get(cardId) ?? 0, failed[i]?.atMs ?? 0);
      this.#allowedAtMs.set(cardId, lastMs + this.everyMs);
    }
  }

  /** @returns how a poll by hand ends that comes too early; null when the card may be polled now. */
  early({ cardId, iccid }: Card, nowMs: number): EarlyEnding | null {
    const polledAt = this.#polledAt.get(cardId) ?? Number.NEGATIVE_INFINITY;
    // The results of this instance's polls may be on their way.
    const sinceMs = this.deps.clock.monotonic() - polledAt;
    const waitMs = Math.max(this.everyMs - sinceMs, (this.#allowedAtMs.get(cardId) ?? 0) - nowMs);
    if (waitMs <= 0) return null;
    this.#allowedAtMs.delete(cardId);
    const nextAt = new Date(nowMs + waitMs).toISOString();
    this.deps.log.info(
      { task_type: this.taskType, card_id: cardId, iccid, next_at: nextAt },
      'poll by hand is too early and waits',
    );
    return { isEarly: true, retry: { capMs: 0, waitMs } };
  }

  /** The card is polled now. */
  polled(cardId: number): void {
    const now = this.deps.clock.monotonic();
    this.#allowedAtMs.delete(cardId);
    this.#polledAt.delete(cardId);
    this.#polledAt.set(cardId, now);
    for (const [oldest, at] of this.#polledAt) {
      if (now - at <= RECORDED_WITHIN_MS) return;
      this.#polledAt.delete(oldest);
    }
  }
}
