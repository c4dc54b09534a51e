// Tracks whether the fleet knows this instance: recorded by its heartbeat (src/engine/heartbeat.ts), read by the judge, by
// readiness and by the watch over outages.
import { spanWords } from '../domain/words.ts';
import type { Clock } from '../platform/clock.ts';

/** How long the live store lists an instance after a heartbeat. */
export const PRESENT_FOR_MS = 10_000;

export class Presence {
  /** When the live store last accepted a heartbeat; before the first one is sent none is missing. */
  #acceptedAt = Number.POSITIVE_INFINITY;
  #failure: string | null = null;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  sending(): void {
    this.#acceptedAt = Math.min(this.#acceptedAt, this.clock.monotonic());
  }

  accepted(): void {
    this.#acceptedAt = this.clock.monotonic();
    this.#failure = null;
  }

  failed(reason: string): void {
    this.#failure = reason;
  }

  /** How long (milliseconds) the fleet has counted this instance as gone, and why; null: it does not. */
  get outage(): { readonly lastsMs: number; readonly reason: string } | null {
    const lastsMs = this.clock.monotonic() - this.#acceptedAt;
    return lastsMs <= PRESENT_FOR_MS ? null : { lastsMs, reason: this.#failure ?? 'no answer' };
  }

  /** The same as a sentence. */
  get silence(): string | null {
    const { outage } = this;
    const because = this.#failure === null ? '' : `: ${this.#failure}`;
    return outage && `heartbeat: no answer for ${spanWords(Math.round(outage.lastsMs / 1000))}${because}`;
  }
}
