// Task types that share one gateway, each at its limit, second by second: EffectiveLimit and StrainTrials together, as
// engine/limits/concurrency-controller.ts runs them, against a model of a gateway. No store, no clock.
import { EffectiveLimit, type LimitMemory } from '../../src/domain/limits/effective-limit.ts';
import { judgeLimits } from '../../src/domain/limits/fleet-limits.ts';
import type { FleetTick } from '../../src/domain/limits/fleet-tick.ts';
import { StrainTrials } from '../../src/domain/limits/strain-trials.ts';
import { mix32 } from '../../src/domain/schedule/phase.ts';
import { TASK_TYPES, type TaskType } from '../../src/domain/task-type.ts';

/**
 * One second of one task type.
 * @param own calls in flight of this type @param total of all types
 * @returns what differs from QUIET. Without `durationMs` every slot is in use all the time.
 */
export type Bearing = (own: number, total: number) => Partial<FleetTick>;

export const QUIET: FleetTick = {
  seconds: 1,
  succeeded: 0,
  failed: 0,
  durationMs: 0,
  succeededMs: 0,
  backpressure: 0,
  timeouts: 0,
  limitReached: false,
};

export class ModelledFleet {
  nowMs = 0;
  /** Every change: the second, the calls in flight from then on, the reason. */
  readonly log: Array<{ second: number; inFlight: number; reason: string }> = [];
  readonly limits: ReadonlyMap<TaskType, EffectiveLimit>;
  readonly #strain = new StrainTrials();

  constructor(
    types = 1,
    readonly configured = 100,
    memory: LimitMemory = { limit: null, normalMs: null },
  ) {
    const members = TASK_TYPES.slice(0, types);
    this.limits = new Map(members.map((taskType) => [taskType, new EffectiveLimit(memory, 0)]));
  }

  get inFlight(): number {
    return [...this.limits.values()].reduce((sum, limit) => sum + limit.under(this.configured), 0);
  }

  get memory(): LimitMemory | undefined {
    return this.limits.get('realname')?.memory;
  }

  get isTrying(): boolean {
    return this.#strain.isTrying;
  }

  /** @param most at most so much of each limit is in force. @returns polls that succeeded. */
  run(seconds: number, bearing: Bearing, most = Number.POSITIVE_INFINITY): number {
    let succeeded = 0;
    for (let i = 0; i < seconds; i += 1) succeeded += this.#second(bearing, most);
    return succeeded;
  }

  /** Runs second by second. @returns the calls in flight in each second. */
  loads(seconds: number, bearing: Bearing): number[] {
    return Array.from({ length: seconds }, () => {
      const { inFlight } = this;
      this.run(1, bearing);
      return inFlight;
    });
  }

  #second(bearing: Bearing, most: number): number {
    this.nowMs += 1_000;
    const total = this.inFlight;
    const ticks = [...this.limits].map(([taskType, limit]) => {
      const inForce = Math.min(most, limit.under(this.configured));
      const seen = { ...QUIET, ...bearing(inForce, total) };
      const durationMs = seen.durationMs === 0 && seen.limitReached ? 1_000 * inForce : seen.durationMs;
      return { taskType, limit, configured: this.configured, inForce, tick: { ...seen, durationMs } };
    });
    judgeLimits(this.#strain, ticks, this.nowMs, (_, reason) =>
      this.log.push({ second: this.nowMs / 1_000, inFlight: this.inFlight, reason }),
    );
    return ticks.reduce((sum, { tick }) => sum + tick.succeeded, 0);
  }
}

/** Every call takes as long, whatever the load. */
export const steady =
  (latencyMs: number): Bearing =>
  (own) => {
    const succeeded = Math.round((own * 1_000) / latencyMs);
    return { succeeded, succeededMs: succeeded * latencyMs, limitReached: true };
  };

/** Refuses so many of the calls, whatever the load; a refused call holds its slot as long as another. */
export const refusing =
  (latencyMs: number, refused: (calls: number, total: number) => number): Bearing =>
  (own, total) => {
    const calls = Math.round((own * 1_000) / latencyMs);
    const failed = refused(calls, total);
    const succeeded = calls - failed;
    return {
      succeeded,
      succeededMs: succeeded * latencyMs,
      failed,
      backpressure: failed,
      durationMs: calls * latencyMs,
      limitReached: true,
    };
  };

/** Bears so many calls at once and refuses the others. */
export const bearing = (capacity: number, latencyMs: number): Bearing =>
  refusing(latencyMs, (calls, total) => Math.round(calls * Math.max(0, 1 - capacity / total)));

/** @returns a function that gives the same numbers, from 0 to 1, for the same seed. */
export function draws(seed: number): () => number {
  let drawn = seed;
  return () => {
    drawn = mix32(drawn + 0x9e3779b9);
    return (drawn >>> 0) / 2 ** 32;
  };
}

/** Refuses each call with this probability, whatever the load. */
export const chance = (share: number, latencyMs: number, draw: () => number): Bearing =>
  refusing(latencyMs, (calls) => Array.from({ length: calls }, draw).filter((one) => one < share).length);
