// The rules of stops of this instance: its settings, with shares of the fleet as numbers of cards. The size of the fleet is
// asked once a minute. Used by the package task with every claim of a stop.
import { type StopRules, type StopSettings, stopRulesOf } from '../../domain/stops/stop.ts';
import { type LoopMeans, LoopService } from '../../platform/loop.ts';
import type { CardRecords } from '../../store/ports/records/card-records.ts';

const COUNT_EVERY_MS = 60_000;

export class StopRulesWatch extends LoopService {
  #rules: StopRules;

  constructor(
    private readonly stops: StopSettings,
    private readonly cards: Pick<CardRecords, 'estimate'>,
    means: LoopMeans,
  ) {
    super('stop-rules-watch', means);
    // Until the fleet is counted, the smallest limits apply.
    this.#rules = stopRulesOf(stops, 0);
  }

  get rules(): StopRules {
    return this.#rules;
  }

  async runOnce(): Promise<number> {
    this.#rules = stopRulesOf(this.stops, await this.cards.estimate());
    return COUNT_EVERY_MS;
  }
}
