// Reports whether this instance can use the database, and why not: no answer, too slow to read cards, or no results accepted (for
// example because its disk is full). Used by engine.ts for readyz and for the instance's report to the fleet.
import { spanWords } from '../domain/words.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseOutage } from '../store/ports/live/coordination.ts';

interface Outage {
  /** Duration so far, milliseconds. */
  readonly lastsMs: number;
  readonly reason: string;
}

interface Watched {
  readonly outage: Outage | null;
}

export class DatabaseUse {
  constructor(
    private readonly configs: Watched,
    private readonly cards: Watched,
    private readonly results: Watched,
    private readonly clock: Clock,
  ) {}

  /** null while the database can be used. */
  get outage(): DatabaseOutage | null {
    if (this.configs.outage !== null) return this.#dated(this.configs.outage);
    if (this.cards.outage !== null) return { ...this.#dated(this.cards.outage), part: 'cards' };
    return this.results.outage && { ...this.#dated(this.results.outage), part: 'results' };
  }

  /** @returns a sentence about an outage longer than this; empty without one. */
  problems(longerThanMs: number): string[] {
    const whole = this.configs.outage;
    const outage = whole ?? this.results.outage;
    if (outage === null || outage.lastsMs <= longerThanMs) return [];
    const what = whole === null ? 'results could not be stored' : 'the database could not be used';
    return [`${what} for ${spanWords(Math.round(outage.lastsMs / 1000))}: ${outage.reason}`];
  }

  #dated({ lastsMs, reason }: Outage): DatabaseOutage {
    return { sinceMs: Math.round(this.clock.now() - lastsMs), reason };
  }
}
