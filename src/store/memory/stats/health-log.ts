// Since when each problem has existed, in this process's memory.
import type { Clock } from '../../../platform/clock.ts';
import type { HealthLog } from '../../ports/live/health-log.ts';

export class EmbeddedHealthLog implements HealthLog {
  readonly #notes = new Map<string, { readonly firstMs: number; readonly endsMs: number }>();

  constructor(private readonly clock: Clock) {}

  async note(names: readonly string[], holdsMs: number): Promise<void> {
    this.#forgetEnded();
    const nowMs = this.clock.now();
    for (const name of names) {
      const firstMs = this.#notes.get(name)?.firstMs ?? nowMs;
      this.#notes.set(name, { firstMs, endsMs: nowMs + holdsMs });
    }
  }

  async since(): Promise<ReadonlyMap<string, number>> {
    this.#forgetEnded();
    return new Map([...this.#notes].map(([name, { firstMs }]) => [name, firstMs]));
  }

  #forgetEnded(): void {
    for (const [name, { endsMs }] of this.#notes) if (endsMs < this.clock.now()) this.#notes.delete(name);
  }
}
