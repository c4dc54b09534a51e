// Compares the readings of cards that go over their package (domain/results/fleet-level.ts), while stops follow from them: the first
// few are called at once, and further ones when this watch has found that the cards do not step over it together. If they do, and
// alike, a jump of the readings begins before growth could show it (usage-jump-watch.ts); if they do in different ways, as in an upload or when each
// counter shows its whole life, stops wait until growth would have shown it. Runs on the leader.
import {
  callsLeft,
  compareReadings,
  type OverCard,
  type ReadingPace,
} from '../../domain/results/fleet-level.ts';
import { growthBefore, minutesToSee, recentGrowth } from '../../domain/results/usage-growth.ts';
import { unwatchedAtMost } from '../../domain/stops/stop.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';
import type { StopControlRecords } from '../../store/ports/records/stop-records.ts';
import type { LeaderMeans } from '../leadership.ts';

const LOOK_EVERY_MS = 250;
/** If no leader compares for so long, no stop waits for it. */
const WATCHED_FOR_MS = 60_000;
const NOTE_EVERY_MS = 15_000;

export class StepWatch extends LoopService<
  LeaderMeans & {
    readonly live: Pick<LiveStore, 'stats' | 'now'>;
    readonly records: {
      readonly cards: Pick<CardRecords, 'counted'>;
      readonly stopControl: Pick<
        StopControlRecords,
        'jump' | 'beginJump' | 'overSince' | 'unwatchedLeft' | 'noteWatched'
      >;
    };
    readonly log: Logger;
  }
> {
  readonly name = 'step-watch';
  /** When it was last noted that every stop may be called at once, by the monotonic clock. */
  #notedAt = Number.NEGATIVE_INFINITY;

  async runOnce(): Promise<number> {
    const { fence, records, clock } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    const most = unwatchedAtMost(await records.cards.counted());
    const left = await records.stopControl.unwatchedLeft();
    const isNoted = clock.monotonic() - this.#notedAt < NOTE_EVERY_MS;
    if (left === most && isNoted) return LOOK_EVERY_MS;
    const next = await this.#look(most);
    await records.stopControl.noteWatched(next, left, WATCHED_FOR_MS);
    this.#notedAt = clock.monotonic();
    return LOOK_EVERY_MS;
  }

  /** @returns stops that may be called before the next look; null: no more than before. */
  async #look(most: number): Promise<number | null> {
    const { live, records } = this.deps;
    const jump = await records.stopControl.jump();
    // It holds all stops, or none if it was accepted.
    if (jump !== null && (jump.carrierId === null || jump.acceptedAtMs !== null)) return most;
    const [history, nowMs] = await Promise.all([live.stats.usageGrowth(), live.now()]);
    const windowMs = (minutesToSee(history, nowMs) + 1) * 60_000;
    const over = await records.stopControl.overSince(windowMs);
    const compared = compareReadings(over, await this.#pace());
    if (compared.level === 'step') {
      const { carrierId, factor } = compared;
      // Its growth is as before soon: what ends it is that the level is back.
      const mbPerHour = growthBefore(history, nowMs) ?? recentGrowth(history, nowMs) ?? 0;
      await this.#begin({ carrierId, factor, mbPerHour }, over);
    }
    return compared.level === 'calm' ? callsLeft(over, most) : null;
  }

  async #pace(): Promise<ReadingPace> {
    const { succeeded, carriers, seconds } = (await this.deps.live.stats.read('carddata')).now;
    const ofCarriers = [...carriers].map(([carrierId, { polls }]): [number, number] => [
      carrierId,
      polls / seconds,
    ]);
    return { ofFleet: succeeded / seconds, ofCarriers: new Map(ofCarriers) };
  }

  async #begin(
    { carrierId, factor, mbPerHour }: { carrierId: number | null; factor: number; mbPerHour: number },
    over: readonly OverCard[],
  ): Promise<void> {
    const { records, log } = this.deps;
    const growth = { baselineMbPerHour: mbPerHour, recentMbPerHour: mbPerHour };
    if (!(await records.stopControl.beginJump({ carrierId, factor, ...growth, isStep: true }))) return;
    log.warn(
      { carrier_id: carrierId, factor: Math.round(factor * 10) / 10, cards: over.length },
      'cards step over their package together, and alike: stops are held',
    );
  }
}
