// Makes results durable and only then lets their cards leave the queue. Workers hand in every claimed item exactly once
// (finish), with or without an outcome to store; the writer owns the item until it is settled.
//
//   reserve -> [gateway call] -> finish -> write (record store, batched) -> settle (live store, batched) -> room
//
// Items without an outcome (failed, returned, nothing to do) skip the write and have a lane of their own, so an
// unavailable record store does not hold them up. But the result of a manual trigger's card is counted in the record
// store, before the item is settled, so that no crash loses it. The leases of items that wait for the record store are prolonged
// (lease-keeper.ts): a card whose result waits is not polled again. A batch that the store refuses is halved until the
// refused value is alone: its card fails, and the rest is written. `room` creates backpressure: reserved items that are
// not settled yet count, so workers stop claiming long before memory runs out. Both stages retry indefinitely with
// growing pauses. The store fences and counts a settle that comes after its lease has ended.
import { groupBy } from '../../domain/group-by.ts';
import { type TriggerResult, triggerIdOf } from '../../domain/manual-trigger.ts';
import type { PollOutcome } from '../../domain/results/poll-outcome.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError, messageOf } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Meter } from '../../platform/meter.ts';
import type { FailureLog, FailureNote } from '../../store/ports/live/poll-stats.ts';
import type { Settlement, WorkItem, WorkQueue } from '../../store/ports/live/work-queue.ts';
import type { ResultRecords } from '../../store/ports/records/record-store.ts';
import type { TriggerRecords } from '../../store/ports/records/trigger-records.ts';
import { BatchLane } from './batch-lane.ts';
import { LeaseKeeper } from './lease-keeper.ts';

export interface FinishedItem {
  readonly taskType: TaskType;
  readonly item: WorkItem;
  readonly verdict: Settlement['verdict'];
  readonly outcome: PollOutcome | null;
  /** The stored note about a failed poll; null when the poll did not fail. */
  readonly failure: FailureNote | null;
  /** Backoff cap at which the card is left to its ring, milliseconds, if its poll failed or its outcome cannot be written. */
  readonly retryCapMs: number;
  /** Triggers whose earlier poll of this card came too early, and which this poll also serves. Absent if there are none. */
  readonly alsoFor?: readonly string[];
  /** Shortest wait of a card that failed or came too early, milliseconds. */
  readonly waitMs: number;
}

type Stage = 'write' | 'count' | 'settle' | 'renew';

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;
/** A shorter refusal is not an outage: most failovers and locks are over by then. */
const OUTAGE_AFTER_MS = 5_000;

interface ResultWriterDeps {
  readonly live: {
    readonly work: Pick<WorkQueue, 'settle' | 'renew'>;
    readonly failures: Pick<FailureLog, 'note'>;
  };
  readonly records: {
    readonly results: Pick<ResultRecords, 'write'>;
    readonly triggers: Pick<TriggerRecords, 'count' | 'defer'>;
  };
  readonly meter: Pick<Meter, 'settled'>;
  /** Called with the outcomes of a written batch, and the ids of cards whose outcome was only partly written. */
  readonly onWritten: (outcomes: readonly PollOutcome[], outdated: readonly number[]) => Promise<void>;
  readonly onError: (stage: Stage, error: unknown, retryInMs: number) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Number of results that may wait for the stores before claiming stops. */
  readonly writeBuffer: number;
  readonly retryBaseMs: number;
  readonly leaseMs: number;
}

export class ResultWriter {
  readonly #recorded: BatchLane<FinishedItem>;
  readonly #plain: BatchLane<FinishedItem>;
  readonly #leases: LeaseKeeper;
  #reserved = 0;
  #abandoned = false;
  /** Start and reason of the current series of refused writes; null after a successful one. */
  #refused: { readonly atMs: number; readonly reason: string } | null = null;
  #idle: Array<() => void> = [];

  constructor(private readonly deps: ResultWriterDeps) {
    const { live, leaseMs, clock } = deps;
    this.#leases = new LeaseKeeper({
      ...{ live, leaseMs, clock },
      onError: (error, retryInMs) => deps.onError('renew', error, retryInMs),
    });
    this.#recorded = new BatchLane(deps.clock, (batch) => this.#end(batch, this.#record(batch)));
    this.#plain = new BatchLane(deps.clock, (batch) => this.#end(batch, this.#settle(batch)));
  }

  /** Number of items that may still be claimed before the writer is full. */
  get room(): number {
    return Math.max(0, this.deps.writeBuffer - this.#reserved);
  }

  /** Number of claimed items that are not settled yet. */
  get reserved(): number {
    return this.#reserved;
  }

  /** How long the record store has refused results (milliseconds), and why; null while it accepts them. */
  get outage(): { readonly lastsMs: number; readonly reason: string } | null {
    if (this.#refused === null) return null;
    const { atMs, reason } = this.#refused;
    const lastsMs = this.deps.clock.monotonic() - atMs;
    return lastsMs < OUTAGE_AFTER_MS ? null : { lastsMs, reason };
  }

  reserve(items: number): void {
    this.#reserved += items;
  }

  finish(finished: FinishedItem): void {
    const isPlain = finished.outcome === null && triggersOf(finished).length === 0;
    if (!isPlain) this.#leases.hold(finished.taskType, finished.item);
    (isPlain ? this.#plain : this.#recorded).add(finished);
  }

  /** Waits until every reserved item is settled. `abandon()` ends the wait. */
  async stop(): Promise<void> {
    this.#recorded.flush();
    this.#plain.flush();
    if (this.#reserved > 0 && !this.#abandoned)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    await this.#leases.stop();
  }

  /** Drops unsettled items: their leases expire, and the cards are polled again. */
  abandon(): void {
    this.#abandoned = true;
    this.#recorded.close();
    this.#plain.close();
    void this.#leases.stop();
    this.#resolveIdle();
  }

  async #end(batch: readonly FinishedItem[], settled: Promise<void>): Promise<void> {
    await settled;
    this.#reserved -= batch.length;
    if (this.#reserved === 0) this.#resolveIdle();
  }

  async #record(batch: readonly FinishedItem[]): Promise<void> {
    const polled = batch.filter((entry) => entry.outcome !== null);
    const again = polled.length > 0 ? await this.#write(polled) : new Set<FinishedItem>();
    const ended = batch.map((entry) =>
      again.has(entry) ? { ...entry, verdict: 'failed' as const, alsoFor: [] } : entry,
    );
    const asked = ended.filter((entry) => triggersOf(entry).length > 0);
    const early = asked.filter(({ verdict }) => verdict === 'early');
    const deferred = early.flatMap((entry) =>
      triggerResultsOf(entry).map((result) => ({ ...result, waitMs: entry.waitMs })),
    );
    if (deferred.length > 0) await this.#persist('count', () => this.deps.records.triggers.defer(deferred));
    const results = asked.filter(({ verdict }) => verdict !== 'early').flatMap(triggerResultsOf);
    if (results.length > 0) await this.#persist('count', () => this.deps.records.triggers.count(results));
    await this.#settle(ended);
  }

  /** @returns the entries to poll again: another writer was faster, the card has a new SIM, or the store refused the value. */
  async #write(entries: readonly FinishedItem[]): Promise<ReadonlySet<FinishedItem>> {
    const outcomes = entries.flatMap((entry) => entry.outcome ?? []);
    const result = await this.#persist('write', () => this.#writeUnlessRefused(outcomes));
    if (result === null) return new Set();
    if (result instanceof CardpollError) return this.#writeHalves(entries, outcomes, result);
    const { staleUsage, otherIccid } = result;
    const outdated = [...staleUsage, ...otherIccid];
    await this.#persist('settle', () => this.deps.onWritten(outcomes, outdated));
    const [stale, other] = [new Set(staleUsage), new Set(otherIccid)];
    return new Set(
      entries.filter(
        ({ item, outcome }) =>
          // Also for a manual poll: nothing is known about the card's new SIM.
          other.has(item.cardId) ||
          (item.lane !== 'manual' && outcome?.usage !== undefined && stale.has(item.cardId)),
      ),
    );
  }

  /**
   * Writes the halves of a batch with a permanently refused value (out of bounds), which must not delay the rest. Its card is
   * polled again.
   */
  async #writeHalves(
    entries: readonly FinishedItem[],
    outcomes: readonly PollOutcome[],
    error: CardpollError,
  ): Promise<ReadonlySet<FinishedItem>> {
    const [outcome, ...others] = outcomes;
    if (outcome !== undefined && others.length === 0) {
      const { cardId, taskType } = outcome;
      const fields = { card_id: cardId, task_type: taskType, reason: error.message };
      this.deps.log.error(fields, 'result refused by the record store');
      return new Set(entries);
    }
    const middle = Math.ceil(entries.length / 2);
    const first = await this.#write(entries.slice(0, middle));
    return new Set([...first, ...(await this.#write(entries.slice(middle)))]);
  }

  /** @returns the error when the store refused a value of the batch, else null. */
  async #writeUnlessRefused(outcomes: readonly PollOutcome[]) {
    try {
      return await this.deps.records.results.write(outcomes);
    } catch (error) {
      if (error instanceof CardpollError && error.kind === 'invalid') return error;
      throw error;
    }
  }

  async #settle(entries: readonly FinishedItem[]): Promise<void> {
    // The backoff cap depends on the config, so settlements are grouped by task type and cap.
    const groups = groupBy(entries, ({ taskType, retryCapMs }) => `${taskType} ${retryCapMs}`);
    await Promise.all([...groups.values()].map((group) => this.#settleGroup(group)));
  }

  async #settleGroup(group: readonly [FinishedItem, ...FinishedItem[]]): Promise<void> {
    const [{ taskType, retryCapMs }] = group;
    const claimed = group.map(({ item }) => item);
    const backoff = { baseMs: this.deps.retryBaseMs, capMs: retryCapMs };
    const failures = group.flatMap(({ failure }) => failure ?? []);
    const result = await this.#persist('settle', async () => {
      if (failures.length > 0) await this.deps.live.failures.note(taskType, failures);
      const items = await this.#leases.end(claimed);
      const settlements = group.map(({ item, verdict, waitMs }, i) => ({
        item: items[i] ?? item,
        verdict,
        random: this.deps.random(),
        waitMs,
      }));
      return this.deps.live.work.settle(taskType, settlements, backoff);
    });
    if (result === null) return;
    this.#leases.settled(claimed);
    this.deps.meter.settled(taskType, group, result.fenced);
    const fields = { task_type: taskType, count: result.fenced };
    if (result.fenced > 0) this.deps.log.warn(fields, 'late results dropped: their lease was over');
  }

  /** Repeats until it succeeds. @returns null when the writer was abandoned meanwhile. */
  async #persist<T>(stage: Stage, attempt: () => Promise<T>): Promise<T | null> {
    for (let failures = 0; !this.#abandoned; failures += 1) {
      const startedAt = this.deps.clock.monotonic();
      try {
        const result = await attempt();
        if (stage !== 'settle') this.#refused = null;
        return result;
      } catch (error) {
        if (stage !== 'settle')
          this.#refused = { atMs: this.#refused?.atMs ?? startedAt, reason: messageOf(error) };
        const retryInMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
        this.deps.onError(stage, error, retryInMs);
        await this.deps.clock.sleep(retryInMs);
      }
    }
    return null;
  }

  #resolveIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** @returns the triggers that asked for this poll. */
function triggersOf({ item, verdict, alsoFor = [] }: FinishedItem): readonly string[] {
  const own = item.lane === 'manual' && verdict !== 'returned' ? triggerIdOf(item.member) : null;
  return own === null ? alsoFor : [own, ...alsoFor];
}

function triggerResultsOf(entry: FinishedItem): TriggerResult[] {
  const { item, verdict } = entry;
  return triggersOf(entry).map((triggerId) => ({
    triggerId,
    cardId: item.cardId,
    succeeded: verdict === 'done',
  }));
}
