// A fleet in virtual time whose live store loses everything again and again: the real scheduler and initialiser, cards and marks
// in memory, and a worker that polls whatever is due.
import { MonthCalendar } from '../../src/domain/cards/month-calendar.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../../src/domain/limits/operator-limits.ts';
import type { ConfigMatcher } from '../../src/domain/schedule/polling-config.ts';
import { perTaskType } from '../../src/domain/task-type.ts';
import { Initialiser } from '../../src/engine/schedule/initialiser.ts';
import { Scheduler } from '../../src/engine/schedule/scheduler.ts';
import type { InitProgress } from '../../src/store/ports/live/coordination.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { RecordStore, RingMark } from '../../src/store/ports/records/record-store.ts';
import { CardTable } from './card-table.ts';
import { FakeClock } from './fake-clock.ts';

/** A live store in the test's time. */
export interface LosableStore {
  readonly live: LiveStore;
  /** Called whenever time passed. */
  readonly follow: (nowMs: number) => void;
  /** Loses everything. */
  readonly lose: () => Promise<void>;
}

export class LosingFleet {
  readonly clock = new FakeClock();
  readonly table = new CardTable();
  /** When each card was polled, milliseconds since the fleet began. */
  readonly polls = new Map<number, number[]>();
  readonly reported: InitProgress[] = [];
  initBatch = 100_000;
  matcher: ConfigMatcher;
  readonly #store: LosableStore;
  readonly #startMs = this.clock.now();
  readonly #marks = new Map<number, RingMark>();
  #claims = 0;
  #scheduler!: Scheduler;
  #initialiser!: Initialiser;
  #initialiseAtMs = 0;

  constructor(matcher: ConfigMatcher, open: (clock: FakeClock) => LosableStore) {
    this.matcher = matcher;
    this.#store = open(this.clock);
    this.restart();
  }

  get atMs(): number {
    return this.clock.now() - this.#startMs;
  }

  /** Begins with new services, as a new process does. */
  restart(): void {
    const { clock } = this;
    const { live } = this.#store;
    const common = {
      matcher: () => this.matcher,
      fence: () => 1,
      queueCap: 200_000,
      clock,
      onError: (error: unknown) => {
        throw error;
      },
    };
    this.#scheduler = new Scheduler({ ...common, rings: live.rings });
    this.#initialiser = new Initialiser({
      ...common,
      live,
      records: this.#records(),
      judgeChanged: async () => {},
      calendar: new MonthCalendar('UTC'),
      initBatch: this.initBatch,
      initPauseMs: 1_000,
      onProgress: (progress) => this.reported.push(progress),
      onReconcile: () => {},
      onRepair: () => {},
    });
  }

  lose(): Promise<void> {
    return this.#store.lose();
  }

  /** Lets `forMs` pass in ticks; what is due is polled in each. */
  async run(forMs: number, tickMs: number): Promise<void> {
    for (const endMs = this.atMs + forMs; this.atMs < endMs; ) {
      this.pass(tickMs);
      await this.#scheduler.runOnce();
      if (this.atMs >= this.#initialiseAtMs)
        this.#initialiseAtMs = this.atMs + (await this.#initialiser.runOnce());
      await this.#poll();
    }
  }

  /** Time in which no service runs. */
  pass(ms: number): void {
    this.clock.advance(ms);
    this.#store.follow(this.clock.now());
  }

  async #poll(): Promise<void> {
    const { work } = this.#store.live;
    this.#claims += 1;
    const request = { instanceId: 'w', claimNumber: this.#claims, max: 10_000, leaseMs: 60_000 };
    const { items } = await work.claim('realname', request);
    for (const { cardId } of items) {
      const polls = this.polls.get(cardId) ?? [];
      this.polls.set(cardId, polls);
      polls.push(this.atMs);
    }
    const settlements = items.map((item) => ({ item, verdict: 'done' as const, random: 0 }));
    await work.settle('realname', settlements, { baseMs: 1, capMs: 1 });
  }

  #records(): RecordStore {
    const { table } = this;
    const nothing = { changed: [], removed: [], mark: 'm', caughtUp: true };
    const records = {
      cards: {
        page: table.port.page,
        byIds: table.port.byIds,
        estimate: async () => (await table.port.page(0, 1e9)).length,
        changeMark: async () => 'm',
        changesSince: async () => nothing,
      },
      configs: {
        concurrency: async () => perTaskType(() => DEFAULT_MAX_CONCURRENCY),
        ringMarks: async () => [...this.#marks.values()],
        saveRingMarks: async (marks: readonly RingMark[]) => {
          for (const mark of marks) this.#marks.set(mark.configId, mark);
        },
      },
      stops: { wanted: async () => [], sweep: async () => [] },
      identity: async () => 'database',
    };
    return records as unknown as RecordStore;
  }
}
