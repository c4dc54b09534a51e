// Watches the growth of the fleet's readings (domain/results/usage-growth.ts), and tells the records when a jump begins and
// when it is over: while one is on and no operator has accepted it, the claim of a stop holds the stop instead of granting
// it. Runs on the leader.

import { rounded } from '../../domain/numbers.ts';
import { judgeGrowth, minuteOf } from '../../domain/results/usage-growth.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { StopControlRecords, UsageJump } from '../../store/ports/records/stop-records.ts';
import type { LeaderMeans } from '../leadership.ts';

const LOOK_EVERY_MS = 2_000;
/** A jump is seen some minutes after its first reading. */
const SEEN_WITHIN_MS = 600_000;

export class UsageJumpWatch extends LoopService<
  LeaderMeans & {
    readonly live: Pick<LiveStore, 'stats' | 'now'>;
    readonly records: Pick<StopControlRecords, 'jump' | 'beginJump' | 'endJump'>;
    readonly log: Logger;
  }
> {
  readonly name = 'usage-jump-watch';

  async runOnce(): Promise<number> {
    const { live, records, fence } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    const [minutes, nowMs, jump] = await Promise.all([live.stats.usageGrowth(), live.now(), records.jump()]);
    const verdict = judgeGrowth(minutes, minuteOf(nowMs), jump);
    if (verdict !== null && 'begins' in verdict) await this.#begin(verdict.begins);
    else if (verdict !== null && jump !== null) await this.#end(jump, verdict.ends);
    return LOOK_EVERY_MS;
  }

  async #begin(jump: Parameters<StopControlRecords['beginJump']>[0]): Promise<void> {
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

  async #end(jump: UsageJump, ends: 'back' | 'new_level'): Promise<void> {
    const { live, records, log } = this.deps;
    // Wrong readings must not be what the next jump is measured against.
    if (ends === 'back') await live.stats.forgetUsageGrowth(jump.sinceMs - SEEN_WITHIN_MS);
    if (!(await records.endJump())) return;
    log.info(
      { since: new Date(jump.sinceMs).toISOString(), mb_per_hour_before: rounded(jump.baselineMbPerHour) },
      ends === 'back'
        ? 'the usage of the fleet grows as before the jump: stops are no longer held'
        : 'the accepted growth of the usage is the normal one now',
    );
  }
}
