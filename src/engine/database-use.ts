// Whether this instance can use the database, and why not: it does not answer, or it answers and takes no results, for
// example because its disk is full. Used by engine.ts for readyz and for what the instance reports to the fleet.
import type { Clock } from '../platform/clock.ts';
import type { DatabaseOutage } from '../store/ports/live/coordination.ts';

interface Outage {
  /** Milliseconds. */
  readonly lastsMs: number;
  readonly reason: string;
}

export class DatabaseUse {
  constructor(
    private readonly reads: { readonly outage: Outage | null },
    private readonly writes: { readonly outage: Outage | null },
    private readonly clock: Clock,
  ) {}

  /** null while the database can be used. */
  get outage(): DatabaseOutage | null {
    const outage = this.reads.outage ?? this.writes.outage;
    if (outage === null) return null;
    const sinceMs = Math.round(this.clock.now() - outage.lastsMs);
    return { sinceMs, reason: outage.reason, onlyWrites: this.reads.outage === null };
  }

  /** @returns a sentence about an outage that has lasted longer; none otherwise. */
  problems(longerThanMs: number): string[] {
    const { reads, writes } = this;
    const outage = reads.outage ?? writes.outage;
    if (outage === null || outage.lastsMs <= longerThanMs) return [];
    const what = reads.outage === null ? 'results could not be stored' : 'the database could not be used';
    return [`${what} for ${Math.round(outage.lastsMs / 1000)} s: ${outage.reason}`];
  }
}
