// Reads the data of the open view from the daemon at intervals, and emits answers and failures. Owns the dashboard's timer, one
// tick a second. Retries a failing source with growing pauses, and never queries a slow one twice at a time.
import type { ApiClient } from '../api/client/client.ts';
import type { Clock } from '../platform/clock.ts';
import { CardpollError, messageOf } from '../platform/errors.ts';
import { CHART_MINUTES, merged } from './series.ts';
import type { Bodies, Event, ListedStops, Received, Source } from './state.ts';

export interface Wish {
  readonly sources: readonly Source[];
  readonly card: string | null;
}

interface FeedDependencies {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly emit: (event: Event) => void;
}

const TICK_MS = 1_000;
/** A tick may come a little early, and a source must not wait for the next one then. */
const SLACK_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Number of listed alerts, triggers, stops and changes. */
const LATEST = 100;

/** Interval and request of each source: all data that the views show of it. */
const ASKED: {
  readonly [S in Source]: {
    readonly everyMs: number;
    readonly read: (client: ApiClient, card: string) => Promise<{ readonly body: Bodies[S] }>;
  };
} = {
  overview: { everyMs: 1_000, read: (client) => client.overview() },
  history: { everyMs: 2_000, read: (client) => client.history(CHART_MINUTES) },
  failures: { everyMs: 2_000, read: (client) => client.failures() },
  firing: { everyMs: 2_000, read: (client) => client.alertHistory({ state: 'firing' }, 1, LATEST) },
  alerts: { everyMs: 3_000, read: (client) => client.alertHistory({}, 1, LATEST) },
  triggers: { everyMs: 1_000, read: (client) => client.triggers(1, LATEST) },
  configs: { everyMs: 2_000, read: (client) => client.configs(1, LATEST) },
  stops: { everyMs: 2_000, read: readStops },
  cleanup: { everyMs: 3_000, read: (client) => client.cleanupProgress() },
  card: { everyMs: 1_000, read: (client, card) => client.explain(card) },
  latest: { everyMs: 5_000, read: (client) => client.stops({}, 1, LATEST) },
  audit: { everyMs: 5_000, read: (client) => client.audit({}, 1, LATEST) },
};

interface Attempt {
  nextAtMs: number;
  isUnderWay: boolean;
  failures: number;
}

export class SnapshotFeed {
  #wish: Wish = { sources: [], card: null };
  #timer: NodeJS.Timeout | null = null;
  #history: Bodies['history'] | null = null;
  #historyAtMs = Number.NEGATIVE_INFINITY;
  readonly #attempts = Object.fromEntries(
    Object.keys(ASKED).map((source) => [source, { nextAtMs: 0, isUnderWay: false, failures: 0 }]),
  ) as Record<Source, Attempt>;

  constructor(private readonly deps: FeedDependencies) {}

  start(): void {
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    this.#askDue();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Queries the newly wanted sources at once. */
  want(wish: Wish): void {
    const isNew = (source: Source) =>
      !this.#wish.sources.includes(source) || (source === 'card' && wish.card !== this.#wish.card);
    for (const source of wish.sources.filter(isNew)) this.#attempts[source].nextAtMs = 0;
    this.#wish = wish;
    if (this.#timer !== null) this.#askDue();
  }

  /** Queries all sources now, after a change. */
  refresh(): void {
    for (const attempt of Object.values(this.#attempts)) if (attempt.failures === 0) attempt.nextAtMs = 0;
    this.#askDue();
  }

  #tick(): void {
    this.#askDue();
    this.deps.emit({ type: 'tick', nowMs: this.deps.clock.monotonic() });
  }

  #askDue(): void {
    const nowMs = this.deps.clock.monotonic();
    for (const source of this.#wish.sources) {
      const attempt = this.#attempts[source];
      if (!attempt.isUnderWay && attempt.nextAtMs <= nowMs + SLACK_MS) void this.#ask(source, attempt, nowMs);
    }
  }

  async #ask(source: Source, attempt: Attempt, startedMs: number): Promise<void> {
    const { clock, emit } = this.deps;
    const { card } = this.#wish;
    attempt.isUnderWay = true;
    attempt.nextAtMs = startedMs + ASKED[source].everyMs;
    try {
      const reading =
        source === 'history' ? await this.#readHistory() : await readSource(this.deps.client, source, card);
      attempt.failures = 0;
      // The answer may be about a card that is no longer shown.
      if (source !== 'card' || card === this.#wish.card)
        emit({ type: 'received', reading, atMs: clock.monotonic() });
      else attempt.nextAtMs = 0;
    } catch (error) {
      if (this.#timer === null) return;
      attempt.failures += 1;
      attempt.nextAtMs = clock.monotonic() + Math.min(LONGEST_PAUSE_MS, attempt.failures * TICK_MS);
      emit({ type: 'failed', source, problem: problemOf(error), nextTryAtMs: attempt.nextAtMs });
    } finally {
      attempt.isUnderWay = false;
    }
    if (attempt.nextAtMs === 0 && this.#timer !== null) this.#askDue();
  }

  /** Reads the whole history at first and after a break, then only the last minute, and appends it. */
  async #readHistory(): Promise<Received> {
    const nowMs = this.deps.clock.monotonic();
    const isRecent = nowMs - this.#historyAtMs < 50_000;
    const { body } = await this.deps.client.history(isRecent ? 1 : CHART_MINUTES);
    this.#history = isRecent ? merged(this.#history, body) : body;
    this.#historyAtMs = nowMs;
    return { source: 'history', body: this.#history };
  }
}

/** @param card for the source `card` only. */
export async function readSource(
  client: ApiClient,
  source: Source,
  card: string | null = null,
): Promise<Received> {
  const { body } = await ASKED[source].read(client, card ?? '');
  return { source, body } as Received;
}

/** Stops that wait for an operator; without any, those that were only observed; otherwise the latest. */
async function readStops(client: ApiClient): Promise<{ readonly body: ListedStops }> {
  for (const state of ['held', 'observed'] as const) {
    const { body } = await client.stops({ state }, 1, LATEST);
    if (body.items.length > 0) return { body: { ...body, state } };
  }
  const { body } = await client.stops({}, 1, LATEST);
  return { body: { ...body, state: null } };
}

function problemOf(error: unknown): string {
  if (!(error instanceof CardpollError) || error.hint === undefined) return messageOf(error);
  return `${error.message} (${error.hint})`;
}
