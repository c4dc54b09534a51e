// The history of samples, in this process's memory.
import { type HistorySample, type HistoryStep, slotOf } from '../../../domain/stats/history.ts';
import type { HistoryLog } from '../../ports/live/history-log.ts';

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
