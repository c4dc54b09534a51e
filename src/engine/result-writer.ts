// Makes results durable and then, only then, lets their cards leave the queue. Workers hand every claimed item in
// exactly once (finish), with or without an outcome to store; the writer owns it until it is settled.
//
//   reserve -> [gateway call] -> finish -> write (record store, batched) -> settle (live store, batched) -> room
//
// Items without an outcome (failed, returned, nothing to do) skip the write, so a record store that is away never
// keeps them; but the end of a manual trigger's card is counted there, and before it is settled, so that no crash loses
// it. `room` is what backpressure is made of: reserved items that are not settled yet count, so workers stop
// claiming long before memory does. Both stages retry for ever with growing pauses; a settle that comes after its
// lease ran out is fenced by the store and counted.
import { setTimeout as sleep } from 'node:timers/promises';
import { type TriggerResult, triggerIdOf } from '../domain/manual-trigger.ts';
import type { PollOutcome } from '../domain/poll-outcome.ts';
import type { TaskType } from '../domain/task-type.ts';
import { CardpollError } from '../platform/errors.ts';
import type { Settlement, WorkItem, WorkQueue } from '../store/live-store.ts';
import type { ResultRecords, TriggerRecords } from '../store/record-store.ts';

export interface FinishedItem {
  readonly taskType: TaskType;
  readonly item: WorkItem;
  readonly verdict: Settlement['verdict'];
  readonly outcome: PollOutcome | null;
  /** Longest retry pause of a failed item, milliseconds: the interval of its config. */
  readonly retryCapMs: number;
}

type Stage = 'write' | 'count' | 'settle';

const MAX_BATCH = 1_000;
/** Results are gathered this long before they are written: the price of a commit is shared, a poll is not delayed. */
const GATHER_MS = 50;
const CONCURRENT_BATCHES = 2;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 2_000;

export interface ResultWriterDeps {
  readonly work: Pick<WorkQueue, 'settle'>;
  readonly results: Pick<ResultRecords, 'write'>;
  readonly triggers: Pick<TriggerRecords, 'count'>;
  /** Called with the outcomes of a written batch, and the cards whose usage somebody else wrote first. */
  readonly onWritten: (outcomes: readonly PollOutcome[], staleUsage: readonly number[]) => Promise<void>;
  /** Called when the record store refused a batch for good; its cards are polled again. */
  readonly onRefused: (outcomes: number, error: CardpollError) => void;
  readonly onFenced: (taskType: TaskType, count: number) => void;
  readonly onError: (stage: Stage, error: unknown, retryInMs: number) => void;
  readonly random: () => number;
  readonly capacity: number;
  readonly retryBaseMs: number;
}

export class ResultWriter {
  #reserved = 0;
  #open: FinishedItem[] = [];
  #running = 0;
  #timer: NodeJS.Timeout | null = null;
  #abandoned = false;
  #idle: Array<() => void> = [];

  constructor(private readonly deps: ResultWriterDeps) {}

  /** Items that may still be claimed before the writer is full. */
  get room(): number {
    return Math.max(0, this.deps.capacity - this.#reserved);
  }

  /** Claimed items that are not settled yet. */
  get reserved(): number {
    return this.#reserved;
  }

  reserve(items: number): void {
    this.#reserved += items;
  }

  finish(finished: FinishedItem): void {
    this.#open.push(finished);
    if (this.#open.length >= MAX_BATCH) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  /** Waits until every reserved item is settled. `abandon()` ends the wait. */
  async stop(): Promise<void> {
    this.#flush();
    if (this.#reserved > 0 && !this.#abandoned)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Gives up on what is not settled: leases will end by themselves and the cards are polled again. */
  abandon(): void {
    this.#abandoned = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#resolveIdle();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    while (this.#open.length > 0 && this.#running < CONCURRENT_BATCHES && !this.#abandoned) {
      const batch = this.#open.splice(0, MAX_BATCH);
      this.#running += 1;
      void this.#process(batch).finally(() => {
        this.#running -= 1;
        this.#reserved -= batch.length;
        if (this.#open.length > 0) this.#flush();
        if (this.#reserved === 0) this.#resolveIdle();
      });
    }
  }

  async #process(batch: readonly FinishedItem[]): Promise<void> {
    const isPlain = (entry: FinishedItem) => entry.outcome === null && !isOfTrigger(entry);
    const settledPlain = this.#settle(batch.filter(isPlain));
    const polled = batch.filter((entry) => entry.outcome !== null);
    const again = polled.length > 0 ? await this.#write(polled) : new Set<FinishedItem>();
    const ended = batch
      .filter((entry) => !isPlain(entry))
      .map((entry) => (again.has(entry) ? { ...entry, verdict: 'failed' as const } : entry));
    const results = ended.filter(isOfTrigger).map(triggerResultOf);
    if (results.length > 0) await this.#persist('count', () => this.deps.triggers.count(results));
    await this.#settle(ended);
    await settledPlain;
  }

  /** @returns the entries that must be polled again: somebody wrote newer usage first, or the store refused them. */
  async #write(entries: readonly FinishedItem[]): Promise<ReadonlySet<FinishedItem>> {
    const outcomes = entries.flatMap((entry) => entry.outcome ?? []);
    const result = await this.#persist('write', () => this.#writeUnlessRefused(outcomes));
    if (result === null) return new Set();
    if (result === 'refused') return new Set(entries);
    await this.#persist('settle', () => this.deps.onWritten(outcomes, result.staleUsage));
    const stale = new Set(result.staleUsage);
    return new Set(
      entries.filter(
        ({ item, outcome }) =>
          item.lane === 'schedule' && outcome?.usage !== undefined && stale.has(item.cardId),
      ),
    );
  }

  /** What the record store refuses for good (a value out of bounds) must not hold up everything behind it. */
  async #writeUnlessRefused(
    outcomes: readonly PollOutcome[],
  ): Promise<Awaited<ReturnType<ResultRecords['write']>> | 'refused'> {
    try {
      return await this.deps.results.write(outcomes);
    } catch (error) {
      if (!(error instanceof CardpollError) || error.kind !== 'invalid') throw error;
      this.deps.onRefused(outcomes.length, error);
      return 'refused';
    }
  }

  async #settle(entries: readonly FinishedItem[]): Promise<void> {
    // A backoff cap belongs to a config, so settlements are grouped by type and cap.
    const groups = new Map<string, FinishedItem[]>();
    for (const entry of entries) {
      const key = `${entry.taskType} ${entry.retryCapMs}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [entry]);
      else group.push(entry);
    }
    await Promise.all([...groups.values()].map((group) => this.#settleGroup(group)));
  }

  async #settleGroup(group: readonly FinishedItem[]): Promise<void> {
    const [first] = group;
    if (first === undefined) return;
    const settlements = group.map(({ item, verdict }) => ({
      item,
      verdict,
      random: this.deps.random(),
    }));
    const backoff = { baseMs: this.deps.retryBaseMs, capMs: first.retryCapMs };
    const result = await this.#persist('settle', () =>
      this.deps.work.settle(first.taskType, settlements, backoff),
    );
    if (result !== null && result.fenced > 0) this.deps.onFenced(first.taskType, result.fenced);
  }

  /** Tries until it works; null when the writer was abandoned meanwhile. */
  async #persist<T>(stage: Stage, attempt: () => Promise<T>): Promise<T | null> {
    for (let failures = 0; !this.#abandoned; failures += 1) {
      try {
        return await attempt();
      } catch (error) {
        const retryInMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
        this.deps.onError(stage, error, retryInMs);
        await sleep(retryInMs);
      }
    }
    return null;
  }

  #resolveIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** True for what ends a card of a manual trigger. */
function isOfTrigger({ item, verdict }: FinishedItem): boolean {
  return item.lane === 'manual' && verdict !== 'returned' && triggerIdOf(item.member) !== null;
}

function triggerResultOf({ item, verdict }: FinishedItem): TriggerResult {
  return {
    triggerId: triggerIdOf(item.member) as string,
    cardId: item.cardId,
    succeeded: verdict === 'done',
  };
}
