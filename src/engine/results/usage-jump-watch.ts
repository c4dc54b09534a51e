// Watches the growth of the fleet's readings (domain/results/usage-growth.ts), and records the begin and end of a jump. During a
// jump that no operator has accepted, stops are held (domain/orders/decide.ts). Normal growth alone does not end a jump: the
// cards that are over their package because of it may be few, or each must have grown by itself (domain/results/fleet-level.ts).
// Runs on the leader.

import { REVOCABLE_MS } from '../../domain/cards/usage-month.ts';
import { rounded } from '../../domain/numbers.ts';
import { fleetLevelOf } from '../../domain/results/fleet-level.ts';
import {
  hourOf,
  type JumpEnd,
  type JumpFactor,
  judgeGrowth,
  recentGrowth,
  SEEN_WITHIN_MS,
} from '../../domain/results/usage-growth.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { JumpBegun, StopControlRecords, UsageJump } from '../../store/ports/records/stop-records.ts';
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 2_000;

const ENDED: Readonly<Record<JumpEnd, string>> = {
  back: 'the usage of the fleet is as before the jump: stops are no longer held',
  new_level: 'the accepted growth of the usage is the normal one now',
  off: 'jumps of the usage are not looked for any more: stops are no longer held',
};

export class UsageJumpWatch extends LoopService<
  LeaderDeps & {
    readonly live: Pick<LiveStore, 'stats' | 'now'>;
    readonly records: Pick<
      StopControlRecords,
      'jump' | 'beginJump' | 'overSinceJump' | 'noteStep' | 'endJump'
    >;
    readonly jumpFactor: JumpFactor;
    readonly log: Logger;
  }
> {
  readonly name = 'usage-jump-watch';

  async runOnce(): Promise<number> {
    const { live, records, fence, jumpFactor } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    const [history, nowMs, jump] = await Promise.all([live.stats.usageGrowth(), live.now(), records.jump()]);
    // Growth during a jump is recorded, too. If it was true, the same hour of the next days is compared with it; if it was wrong,
    // it is deleted when the jump ends.
    const growth = jumpFactor === 'off' ? null : recentGrowth(history, nowMs);
    if (growth !== null && growth > (history.hours.get(hourOf(nowMs)) ?? 0))
      await live.stats.noteUsagePeak(hourOf(nowMs), growth);
    const verdict = judgeGrowth(history, nowMs, jump, jumpFactor);
    const fleets = jump?.carrierId == null ? verdict : judgeGrowth(history, nowMs, null, jumpFactor);
    if (fleets !== null && 'begins' in fleets) await this.#begin(fleets.begins);
    else if (
      verdict !== null &&
      'ends' in verdict &&
      jump !== null &&
      !(await this.#isOnAnotherLevel(jump, verdict.ends, nowMs))
    )
      await this.#end(jump, verdict);
    return LOOK_EVERY_MS;
  }

  /** Whether the jump goes on although growth is normal again. */
  async #isOnAnotherLevel(jump: UsageJump, ends: JumpEnd, nowMs: number): Promise<boolean> {
    const { records, log } = this.deps;
    // An accepted jump holds no stops, and does not begin again while its level lasts.
    if (ends !== 'back' || (jump.acceptedAtMs !== null && !jump.isStep)) return false;
    const level = fleetLevelOf(await records.overSinceJump());
    if (level === 'few') return false;
    if (level === 'step' && (await records.noteStep()))
      log.warn(
        'the usage of the fleet grows as before, on another level: stops are held until it is back, or accepted',
      );
    // Later no reading shows it any more, and it cannot be revoked: an operator decides.
    const isKept = nowMs - jump.sinceMs < REVOCABLE_MS - SEEN_WITHIN_MS;
    return level === 'step' || (jump.isStep && !isKept);
  }

  async #begin(growth: Omit<JumpBegun, 'carrierId' | 'isStep'>): Promise<void> {
    const jump = { ...growth, carrierId: null, isStep: false };
    if (!(await this.deps.records.beginJump(jump))) return;
    this.deps.log.warn(
      {
        factor: Math.round(jump.factor),
        mb_per_hour: rounded(jump.recentMbPerHour),
        mb_per_hour_before: rounded(jump.baselineMbPerHour),
      },
      'the usage of the fleet grows much faster than before: stops are held',
    );
  }

  async #end(
    jump: UsageJump,
    { ends, wereWrong }: { readonly ends: JumpEnd; readonly wereWrong: boolean },
  ): Promise<void> {
    const { live, records, log } = this.deps;
    // Wrong readings must not become the baseline of the next jump.
    if (wereWrong || jump.isStep) await live.stats.forgetUsageGrowth(jump.sinceMs - SEEN_WITHIN_MS);
    if (!(await records.endJump(ends))) return;
    log.info(
      { since: new Date(jump.sinceMs).toISOString(), mb_per_hour_before: rounded(jump.baselineMbPerHour) },
      ENDED[ends],
    );
  }
}
