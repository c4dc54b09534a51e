// The history of samples and of problems, in this process's memory.
import { type HistorySample, type HistoryStep, slotOf } from '../../../domain/stats/history.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { HealthLog, HistoryLog } from '../../ports/live/history-log.ts';

export class EmbeddedHistoryLog implements HistoryLog {
  readonly #slots: Record<HistoryStep, Map<number, HistorySample>> = { second: new Map(), minute: new Map() };

  async save(step: HistoryStep, sample: HistorySample): Promise<void> {
    this.#slots[step].set(slotOf(step, sample.atMs), sample);
  }

  async read(step: HistoryStep, sinceMs: number): Promise<readonly HistorySample[]> {
    const samples = [...this.#slots[step].values()].filter(({ atMs }) => atMs >= sinceMs);
    return samples.sort((a, b) => a.atMs - b.atMs);
  }
}

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
