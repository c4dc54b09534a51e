// Finds the change that came before a reason and may explain it, and the command that undoes it. Used by the judge. Reads in the
// background, and only while there is such a reason; without the stores no change is known.

import { spanWords } from '../domain/words.ts';
import type { Clock } from '../platform/clock.ts';
import { SharedReading } from '../platform/shared-reading.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import {
  changeBefore,
  changeWords,
  EXPLAINED,
  type KnownChange,
  NAMED_ACTIONS,
  type PresentSchedule,
  type RecordedChange,
} from './change-before.ts';
import { changesSince } from './change-since.ts';
import type { HealthReason } from './reason.ts';

/** A change that came longer than this before a reason is not named. */
const WITHIN_MS = 900_000;
const MOST_CHANGES = 200;

/**
 * Name in the health log whose start shows since when reasons are noted without a gap: before that, a reason may have been
 * missed.
 */
export const WATCHED = 'watched';

interface ChangeDeps {
  readonly live: Pick<LiveStore, 'rings'>;
  readonly records: Pick<RecordStore, 'configs' | 'audit'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
}

interface Surroundings {
  readonly instances: ReadonlyArray<Pick<InstanceInfo, 'clockAheadMs'>>;
  readonly since: ReadonlyMap<string, number>;
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Known {
  readonly changes: readonly RecordedChange[];
  readonly schedule: PresentSchedule;
  /** Command that undoes a change, by its id. */
  readonly back: ReadonlyMap<number, string>;
}

const NOTHING_KNOWN: Known = { changes: [], schedule: { configs: [], rings: [] }, back: new Map() };

export class ChangeWatch {
  /** The reasons of the last request, and the time in which a change can have led to each. */
  #asked: ReadonlyArray<{ readonly reason: HealthReason; readonly window: Window }> = [];
  readonly #reading: SharedReading<Known>;

  constructor(private readonly deps: ChangeDeps) {
    this.#reading = new SharedReading(() => this.#read(), deps.clock);
  }

  /** @returns the change that came before a reason; null for most reasons. */
  async before(
    reasons: readonly HealthReason[],
    surroundings: Surroundings,
  ): Promise<(reason: HealthReason) => KnownChange | null> {
    this.#asked = reasons.flatMap((reason) => {
      const window = windowOf(reason, surroundings);
      return window === null ? [] : { reason, window };
    });
    const known = (this.#asked.length === 0 ? null : await this.#reading.read()) ?? NOTHING_KNOWN;
    return (reason) => {
      const window = windowOf(reason, surroundings);
      return window && knownChange(reason, window, known);
    };
  }

  async #read(): Promise<Known> {
    const { live, records } = this.deps;
    const asked = this.#asked;
    const schedule = { configs: await records.configs.list(), rings: await live.rings.list() };
    const fromMs = Math.min(...asked.map(({ window }) => window.fromMs));
    const toMs = Math.max(...asked.map(({ window }) => window.toMs));
    const changes = await records.audit.changes({ fromMs, toMs }, NAMED_ACTIONS, MOST_CHANGES);
    const back = new Map<number, string>();
    for (const { reason, window } of asked) {
      const change = changeBefore(reason, within(window, changes), schedule)?.change;
      if (change !== undefined && !back.has(change.id)) back.set(change.id, await this.#backWords(change));
    }
    return { changes, schedule, back };
  }

  /** Names the command only if it would work now. */
  async #backWords(change: RecordedChange): Promise<string> {
    // A pause has an end, and another command ends it.
    if (!change.action.startsWith('config.') && change.action !== 'concurrency.set') return '';
    const { undo, newest } = await changesSince(this.deps.records.audit, change);
    if (newest !== null) return '; changed again since';
    return undo === null ? `; back: cardpoll audit undo ${change.id}` : '; taken back since';
  }
}

/**
 * The time in which a change can have led to a reason, such that it certainly came before the reason: the reason was watched
 * without a gap, and the change came first by every clock that may have dated it. null: no change is looked for.
 */
function windowOf({ code, since }: HealthReason, { instances, since: noted }: Surroundings): Window | null {
  const watchedMs = noted.get(WATCHED);
  if (since === null || watchedMs === undefined || !EXPLAINED.includes(code)) return null;
  const sinceMs = since.getTime();
  const ahead = instances.map(({ clockAheadMs }) => clockAheadMs ?? 0);
  // A reason that is older than the watch was noted by an earlier one: an instance was restarted meanwhile.
  const watchedFromMs = sinceMs < watchedMs ? 0 : watchedMs + Math.max(0, ...ahead);
  return { fromMs: Math.max(sinceMs - WITHIN_MS, watchedFromMs), toMs: sinceMs + Math.min(0, ...ahead) };
}

function knownChange(reason: HealthReason, window: Window, known: Known): KnownChange | null {
  const found = changeBefore(reason, within(window, known.changes), known.schedule);
  if (found === null) return null;
  const { change, count, explains, isImmediate } = found;
  const before = spanWords(Math.max(1, Math.floor(((reason.since?.getTime() ?? 0) - change.atMs) / 1000)));
  const others = count === 1 ? '' : `, the last of ${count}`;
  const back = known.back.get(change.id) ?? '';
  const words = `; changed: ${changeWords(change)}, ${before} before, by ${change.name}${others}${back}`;
  return { id: change.id, atMs: change.atMs, explains, isImmediate, words };
}

function within({ fromMs, toMs }: Window, changes: readonly RecordedChange[]): RecordedChange[] {
  return changes.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}
