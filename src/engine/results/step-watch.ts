// Compares the readings of cards that go over their package (domain/results/fleet-level.ts) while their stops are called. The
// first few stops are called at once, further ones only when this watch has found that the cards do not go over together. If the
// cards go over together and alike, a jump of the readings begins, before growth could show it (usage-jump-watch.ts). If they go
// over in different ways, as in an upload or when each counter shows its lifetime total, stops wait until growth would have shown
// it. Runs on the leader.
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
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 250;
/** Without a leader that compares for this long, stops wait no more. */
const WATCHED_FOR_MS = 60_000;
const NOTE_EVERY_MS = 15_000;

export class StepWatch extends LoopService<
  LeaderDeps & {
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
  /** When it was last recorded that all stops may be called at once, by the monotonic clock. */
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
    // A jump of the whole fleet holds all stops; an accepted one holds none.
    if (jump !== null && (jump.carrierId === null || jump.acceptedAtMs !== null)) return most;
    const [history, nowMs] = await Promise.all([live.stats.usageGrowth(), live.now()]);
    const windowMs = (minutesToSee(history, nowMs) + 1) * 60_000;
    const over = await records.stopControl.overSince(windowMs);
    const compared = compareReadings(over, await this.#pace());
    if (compared.level === 'step') {
      const { carrierId, factor } = compared;
      // Growth will soon be normal again, so the end of this jump is a normal level.
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
