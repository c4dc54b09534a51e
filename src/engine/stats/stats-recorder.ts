// Counts the polls of this instance, and sends the counts to the live store twice a second. A delta that could not be sent is
// sent again with the same flush number, so it counts exactly once.

import { durationBucketOf } from '../../domain/numbers.ts';
import { DOUBTFUL_BUCKET, growthBucketOf } from '../../domain/results/usage-growth.ts';
import { addCounts, type CarrierCounts, isLatePoll } from '../../domain/stats/carrier-slots.ts';
import { perTaskType, TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { Meter } from '../../platform/meter.ts';
import { type PollStats, STATS_CARRIERS_MAX, type StatsDelta } from '../../store/ports/live/poll-stats.ts';

const FLUSH_EVERY_MS = 500;

type Counter = ReturnType<typeof zero>;
const zero = () => ({
  succeeded: 0,
  failed: 0,
  durationMs: 0,
  backpressure: 0,
  timeouts: 0,
  succeededMs: 0,
  limitReached: 0,
  implausible: 0,
  counters: 0,
  fallen: 0,
  durations: {} as Record<number, number>,
  reasons: {} as Record<string, number>,
  carriers: new Map<number, { polls: number; failed: number; succeededMs: number }>(),
  usageGrowth: {} as Record<number, number>,
  byCarrier: new Map<number | null, CarrierCounts>(),
});

function addDuration(counter: Counter, durationMs: number): void {
  const bucket = durationBucketOf(durationMs);
  counter.durationMs += durationMs;
  counter.durations[bucket] = (counter.durations[bucket] ?? 0) + 1;
}

/** @param succeededMs 0: it failed. */
function addCarrier({ carriers }: Counter, carrierId: number, failed: 0 | 1, succeededMs: number): void {
  const own = carriers.get(carrierId);
  if (own !== undefined) {
    own.polls += 1;
    own.failed += failed;
    own.succeededMs += succeededMs;
  } else if (carriers.size < STATS_CARRIERS_MAX) {
    carriers.set(carrierId, { polls: 1, failed, succeededMs });
  }
}

export class StatsRecorder extends LoopService<
  LoopDeps & {
    readonly live: { readonly stats: Pick<PollStats, 'record'> };
    readonly instanceId: string;
    readonly meter: Pick<Meter, 'poll'>;
  }
> {
  readonly name = 'stats-recorder';
  readonly #open = perTaskType(zero);
  readonly #unsent = perTaskType<StatsDelta | null>(() => null);
  readonly #flushNumber = perTaskType(() => 0);
  /** When claimed items were due, by the monotonic clock. */
  readonly #dueAt = new WeakMap<object, number>();

  countSucceeded(taskType: TaskType, durationMs: number, carrierId: number): void {
    const counter = this.#open[taskType];
    counter.succeeded += 1;
    counter.succeededMs += durationMs;
    addDuration(counter, durationMs);
    addCarrier(counter, carrierId, 0, durationMs);
    addCounts(counter.byCarrier, [[carrierId, { polls: 1 }]]);
    this.deps.meter.poll(taskType, 'succeeded', durationMs);
  }

  /** @param reason the kind of failure, as `reasonOf` names it. */
  countFailed(taskType: TaskType, durationMs: number, reason: string, carrierId: number): void {
    const counter = this.#open[taskType];
    counter.failed += 1;
    counter.reasons[reason] = (counter.reasons[reason] ?? 0) + 1;
    addDuration(counter, durationMs);
    // What was never sent says nothing about the carrier.
    if (reason !== 'held') {
      addCarrier(counter, carrierId, 1, 0);
      addCounts(counter.byCarrier, [[carrierId, { polls: 1, failed: 1 }]]);
    }
    this.deps.meter.poll(taskType, 'failed', durationMs);
  }

  /** Notes how long the scheduled cards of a claim had been due. @param claim `lateMs` has those of lane `schedule`, in their order. */
  noteClaim({ items, lateMs }: Parameters<Meter['claimed']>[1]): void {
    const atMs = this.deps.clock.monotonic();
    const scheduled = items.filter(({ lane }) => lane === 'schedule');
    for (const [i, ms] of lateMs.entries()) {
      const item = scheduled[i];
      if (item !== undefined) this.#dueAt.set(item, atMs - ms);
    }
  }

  /** Counts whether a poll of the schedule begins late; retries and polls by hand have no time at which they are due. */
  countBegun(taskType: TaskType, item: object, carrierId: number, intervalMs: number): void {
    const dueAt = this.#dueAt.get(item);
    if (dueAt === undefined) return;
    const late = Number(isLatePoll(this.deps.clock.monotonic() - dueAt, intervalMs));
    addCounts(this.#open[taskType].byCarrier, [[carrierId, { timed: 1, late }]]);
  }

  /** Counts a reading that grew, whether it is believed or not, or fell far; its poll is counted too. */
  countUsageGrowth(taskType: TaskType, mbPerHour: number): void {
    this.#addGrowth(taskType, growthBucketOf(mbPerHour));
  }

  /** Counts a reading that was not believed, in addition to its growth. */
  countImplausible(taskType: TaskType): void {
    this.#open[taskType].implausible += 1;
    this.#addGrowth(taskType, DOUBTFUL_BUCKET);
  }

  /** Counts a reading of a card that has used something, in addition to its growth. */
  countCounter(taskType: TaskType, counter: 'counts' | 'fallen'): void {
    this.#open[taskType].counters += 1;
    if (counter === 'fallen') this.#open[taskType].fallen += 1;
  }

  #addGrowth(taskType: TaskType, bucket: number): void {
    const { usageGrowth } = this.#open[taskType];
    usageGrowth[bucket] = (usageGrowth[bucket] ?? 0) + 1;
  }

  /** Counts what the effective limit asks for, in addition to the polls. */
  note(taskType: TaskType, what: 'backpressure' | 'timeouts' | 'limitReached'): void {
    this.#open[taskType][what] += 1;
  }

  async runOnce(): Promise<number> {
    await this.#each((taskType) => this.#flush(taskType));
    return FLUSH_EVERY_MS;
  }

  /**
   * Sends each type on its own, so that a failure affects one type only. Throws the first failure when all have ended.
   */
  async #each(send: (taskType: TaskType) => Promise<void>): Promise<void> {
    const outcomes = await Promise.allSettled(TASK_TYPES.map(send));
    const failure = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  async #flush(taskType: TaskType): Promise<void> {
    if (this.#unsent[taskType] === null) {
      const delta = this.#open[taskType];
      if (delta.succeeded + delta.failed + delta.limitReached === 0) return;
      this.#open[taskType] = zero();
      this.#flushNumber[taskType] += 1;
      this.#unsent[taskType] = delta;
    }
    const { live, instanceId } = this.deps;
    await live.stats.record(taskType, instanceId, this.#flushNumber[taskType], this.#unsent[taskType]);
    this.#unsent[taskType] = null;
  }

  /** Sends what is left in at most two calls: an unsent delta first, then the open one. */
  override async stop(): Promise<void> {
    await super.stop();
    await this.#each(async (taskType) => {
      await this.#flush(taskType);
      await this.#flush(taskType);
    });
  }
}
