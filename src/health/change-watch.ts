// Adds to a reason the change that came before it and may explain it, and how to take that back. Used by the judge. Reads in the
// background, and only while there is such a reason; without the stores a reason has no such words.

import { groupBy } from '../domain/group-by.ts';
import { spanWords } from '../domain/words.ts';
import type { Clock } from '../platform/clock.ts';
import { PatientReading } from '../platform/patient-reading.ts';
import type { InstanceInfo } from '../store/ports/live/coordination.ts';
import type { LiveStore } from '../store/ports/live/live-store.ts';
import type { RecordStore } from '../store/ports/records/record-store.ts';
import {
  changeBefore,
  changeWords,
  EXPLAINED,
  NAMED_ACTIONS,
  type PresentSchedule,
  type RecordedChange,
} from './change-before.ts';
import { changesSince } from './change-since.ts';
import type { HealthReason } from './reason.ts';

/** A change longer before a reason is not named. */
const WITHIN_MS = 900_000;
const MOST_CHANGES = 200;

/** The name in the health log that says since when reasons are noted without a gap: before, none can have been absent. */
export const WATCHED = 'watched';

interface ChangeMeans {
  readonly live: Pick<LiveStore, 'rings'>;
  readonly records: Pick<RecordStore, 'configs' | 'audit'>;
  readonly clock: Pick<Clock, 'monotonic' | 'sleep'>;
}

interface Surroundings {
  readonly instances: ReadonlyArray<Pick<InstanceInfo, 'clockAheadMs'>>;
  readonly since: ReadonlyMap<string, number>;
}

type Asked = Pick<HealthReason, 'code' | 'taskType'> & {
  readonly sinceMs: number;
  readonly fromMs: number;
  readonly toMs: number;
};

export class ChangeWatch {
  #asked: readonly Asked[] = [];
  readonly #reading: PatientReading<ReadonlyMap<string, string>>;

  constructor(private readonly deps: ChangeMeans) {
    this.#reading = new PatientReading(() => this.#read(), deps.clock);
  }

  /** @returns what to say of a reason after its text; '' for most. */
  async told(
    reasons: readonly HealthReason[],
    surroundings: Surroundings,
  ): Promise<(reason: HealthReason) => string> {
    this.#asked = reasons.flatMap((reason) => askedOf(reason, surroundings));
    const known = this.#asked.length === 0 ? null : await this.#reading.read();
    return ({ code, taskType, since, causedBy }) =>
      causedBy === null ? (known?.get(keyOf({ code, taskType, sinceMs: since?.getTime() ?? 0 })) ?? '') : '';
  }

  async #read(): Promise<ReadonlyMap<string, string>> {
    const { live, records } = this.deps;
    const schedule = { configs: await records.configs.list(), rings: await live.rings.list() };
    const words = new Map<string, string>();
    // What began together has the same changes before it.
    for (const together of groupBy(this.#asked, ({ sinceMs }) => sinceMs).values()) {
      const [{ fromMs, toMs }] = together;
      const changes = await records.audit.changes({ fromMs, toMs }, NAMED_ACTIONS, MOST_CHANGES);
      for (const asked of together) {
        words.set(keyOf(asked), await this.#wordsOf(asked, changes, schedule));
      }
    }
    return words;
  }

  async #wordsOf(
    asked: Asked,
    changes: readonly RecordedChange[],
    schedule: PresentSchedule,
  ): Promise<string> {
    const found = changeBefore(asked, changes, schedule);
    if (found === null) return '';
    const { change, count } = found;
    const before = spanWords(Math.max(1, Math.floor((asked.sinceMs - change.atMs) / 1000)));
    const others = count === 1 ? '' : `, the last of ${count}`;
    const back = await this.#backWords(change);
    return `; changed: ${changeWords(change)}, ${before} before, by ${change.name}${others}${back}`;
  }

  /** Names the command only where it would be carried out now. */
  async #backWords(change: RecordedChange): Promise<string> {
    // A pause has an end and a command of its own.
    if (!change.action.startsWith('config.') && change.action !== 'concurrency.set') return '';
    const { undo, newest } = await changesSince(this.deps.records.audit, change);
    if (newest !== null) return '; changed again since';
    return undo === null ? `; back: cardpoll audit undo ${change.id}` : '; taken back since';
  }
}

/**
 * Where a reason and the changes before it can be told apart: the reason was looked for without a gap, and whichever clock dated
 * a change, it came first.
 */
function askedOf(
  { code, taskType, since, causedBy }: HealthReason,
  { instances, since: noted }: Surroundings,
): Asked[] {
  const watchedMs = noted.get(WATCHED);
  if (since === null || causedBy !== null || watchedMs === undefined || !EXPLAINED.includes(code)) return [];
  const sinceMs = since.getTime();
  const ahead = instances.map(({ clockAheadMs }) => clockAheadMs ?? 0);
  const fromMs = Math.max(sinceMs - WITHIN_MS, watchedMs + Math.max(0, ...ahead));
  return [{ code, taskType, sinceMs, fromMs, toMs: sinceMs + Math.min(0, ...ahead) }];
}

function keyOf({ code, taskType, sinceMs }: Pick<Asked, 'code' | 'taskType' | 'sinceMs'>): string {
  return `${taskType} ${code} ${sinceMs}`;
}
