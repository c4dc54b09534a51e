// Takes a sample of every task type each second, and one each minute, for the charts. Runs on the leader: without a
// leader there is a gap. A sample consists of numbers that the live store counts anyway; it costs a few reads. The live store's
// clock dates it, so that the samples of all leaders are in one order.

import { DEFAULT_MAX_CONCURRENCY } from '../../domain/limits/operator-limits.ts';
import { percentileOf, rounded, roundedOrNull } from '../../domain/numbers.ts';
import { type HistorySample, meanOf, type TaskSample } from '../../domain/stats/history.ts';
import { perTaskType } from '../../domain/task-type.ts';
import { LoopService } from '../../platform/loop.ts';
import { type FleetReading, readFleet, type TaskReading } from '../../store/ports/live/fleet-reading.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { LeaderDeps } from '../leadership.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
/** A timer may end this early. What it samples belongs to the second that it was for. */
const EARLY_MS = 50;

export class HistorySampler extends LoopService<
  LeaderDeps & {
    readonly live: Pick<LiveStore, 'work' | 'stats' | 'rings' | 'history' | 'now'>;
  }
> {
  readonly name = 'history-sampler';
  /** The reading of the last sample; null before the first one. */
  #before: { readonly fleet: FleetReading; readonly atMs: number } | null = null;
  #minute: HistorySample[] = [];

  async runOnce(): Promise<number> {
    const { fence, live, clock } = this.deps;
    if (fence() === null) {
      this.#before = null;
      this.#minute = [];
      return SECOND_MS;
    }
    const startedAt = clock.monotonic();
    const nowMs = await live.now();
    await this.#sample(nowMs);
    const endedMs = nowMs + clock.monotonic() - startedAt;
    return SECOND_MS + EARLY_MS - ((endedMs + EARLY_MS) % SECOND_MS);
  }

  async #sample(nowMs: number): Promise<void> {
    const { live, clock } = this.deps;
    const fleet = await readFleet(live);
    const atMs = clock.monotonic();
    const before = this.#before;
    this.#before = { fleet, atMs };
    const seconds = before === null ? 0 : (atMs - before.atMs) / 1000;
    const sample: HistorySample = {
      atMs: nowMs + EARLY_MS - ((nowMs + EARLY_MS) % SECOND_MS),
      tasks: perTaskType((taskType) => sampleOf(fleet[taskType], before?.fleet[taskType] ?? null, seconds)),
    };
    await live.history.save('second', sample);
    await this.#addToMinute(sample);
  }

  /**
   * Writes a minute's sample when another minute begins, also an earlier one: a clock may be set back. A leader that began in
   * mid-minute averages the seconds it saw.
   */
  async #addToMinute(sample: HistorySample): Promise<void> {
    const endOf = ({ atMs }: HistorySample) => atMs - (atMs % MINUTE_MS) + MINUTE_MS;
    const [first] = this.#minute;
    if (first !== undefined && endOf(first) !== endOf(sample)) {
      await this.deps.live.history.save('minute', meanOf(endOf(first), this.#minute));
      this.#minute = [];
    }
    this.#minute.push(sample);
  }
}

/** @param seconds since the reading before. */
function sampleOf({ counts, stats }: TaskReading, before: TaskReading | null, seconds: number): TaskSample {
  const totals = before?.stats ?? null;
  // Totals that are smaller than before mean that the store lost its data.
  const rate = (field: 'total' | 'failed') =>
    totals === null || seconds <= 0 || stats[field] < totals[field]
      ? null
      : rounded((stats[field] - totals[field]) / seconds);
  const percentile = (share: number) => roundedOrNull(percentileOf(stats.recent.durations, share));
  return {
    ratePerSecond: rate('total'),
    failedPerSecond: rate('failed'),
    p50Ms: percentile(0.5),
    p95Ms: percentile(0.95),
    queueLength: counts.queueLength,
    inFlight: counts.inFlight,
    backoff: counts.backoff + counts.retryDue,
    manualLength: counts.manualLength,
    effectiveConcurrency: counts.effectiveConcurrency,
    maxConcurrency: counts.maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
  };
}
