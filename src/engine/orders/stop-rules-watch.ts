// Keeps this instance's rules of stops: its settings, with shares of the fleet converted to numbers of cards. Asks once a minute
// for the size of the fleet, which the walk over all cards counts.
import { type StopRules, type StopSettings, stopRulesOf } from '../../domain/stops/stop.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';

const COUNT_EVERY_MS = 60_000;

export class StopRulesWatch extends LoopService<
  LoopDeps & {
    readonly stops: StopSettings;
    readonly records: { readonly cards: Pick<CardRecords, 'counted'> };
  }
> {
  readonly name = 'stop-rules-watch';
  /** Until the fleet is counted, the smallest limits apply. */
  #rules = stopRulesOf(this.deps.stops, 0);

  get rules(): StopRules {
    return this.#rules;
  }

  async runOnce(): Promise<number> {
    const { stops, records } = this.deps;
    this.#rules = stopRulesOf(stops, await records.cards.counted());
    return COUNT_EVERY_MS;
  }
}
