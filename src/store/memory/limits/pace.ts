// Grants of gateway calls for a single process; pace-limit.ts has the rules.
import type { Clock } from '../../../platform/clock.ts';
import type { Pace, PaceGrant, PaceRequest, PaceState } from '../../ports/live/pace.ts';
import { EmbeddedPaceLimit } from './pace-limit.ts';

const MOST_LIFE_MS = 500;

export class EmbeddedPace implements Pace {
  readonly #limits = new Map<string, EmbeddedPaceLimit>();

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  async take({ participant, interfaceName, calls, limits }: PaceRequest): Promise<PaceGrant> {
    const nowMs = this.clock.now();
    for (const limit of limits) {
      const known = this.#limits.get(limit.id) ?? new EmbeddedPaceLimit(limit, nowMs);
      known.see(limit, nowMs);
      this.#limits.set(limit.id, known);
    }
    this.#refill(nowMs);
    const counting = [...this.#limits.values()]
      .filter(({ inForce }) => inForce.interfaces?.includes(interfaceName) !== false)
      .map((limit) => ({ limit, offer: limit.offer(participant, calls, nowMs) }));
    const granted = Math.min(calls, ...counting.map(({ offer }) => offer.got));
    const waits = counting.map(({ limit, offer }) => limit.grant(participant, calls, granted, offer, nowMs));
    return {
      calls: granted,
      waitMs: Math.max(0, ...waits),
      lifeMs: Math.floor(Math.min(MOST_LIFE_MS, ...counting.map(({ limit }) => limit.lifeMs))),
      inForce: counting.map(({ limit: { inForce } }) => inForce),
      receipt: counting.flatMap(({ limit }) => [limit.inForce.id, String(limit.taken)]),
    };
  }

  async giveBack(
    { participant }: Pick<PaceRequest, 'participant'>,
    { receipt }: PaceGrant,
    calls: number,
  ): Promise<void> {
    this.#refill(this.clock.now());
    for (let i = 0; i < receipt.length; i += 2) {
      this.#limits.get(receipt[i] as string)?.giveBack(participant, calls, Number(receipt[i + 1]));
    }
  }

  async states(): Promise<PaceState[]> {
    const nowMs = this.clock.now();
    const states = [...this.#limits.values()]
      .filter((limit) => !limit.isForgotten(nowMs))
      .map((limit) => limit.state(nowMs));
    return states.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  #refill(nowMs: number): void {
    for (const [id, limit] of this.#limits) {
      if (limit.isForgotten(nowMs)) this.#limits.delete(id);
      else limit.refill(nowMs);
    }
  }
}
