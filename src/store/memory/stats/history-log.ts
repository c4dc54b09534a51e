// The history of samples and of problems, in this process's memory.
import { type HistorySample, type HistoryStep, slotOf } from '../../../domain/stats/history.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { HealthLog, HistoryLog } from '../../ports/live/history-log.ts';

export function embeddedHistoryLog(): HistoryLog {
  const slots: Record<HistoryStep, Map<number, HistorySample>> = { second: new Map(), minute: new Map() };

  return {
    async save(step, sample) {
      slots[step].set(slotOf(step, sample.atMs), sample);
    },

    async read(step, sinceMs) {
      const samples = [...slots[step].values()].filter(({ atMs }) => atMs >= sinceMs);
      return samples.sort((a, b) => a.atMs - b.atMs);
    },
  };
}

export function embeddedHealthLog(clock: Clock): HealthLog {
  const notes = new Map<string, { readonly firstMs: number; readonly endsMs: number }>();

  function forgetEnded(): void {
    for (const [name, { endsMs }] of notes) if (endsMs < clock.now()) notes.delete(name);
  }

  return {
    async note(names, holdsMs) {
      forgetEnded();
      const nowMs = clock.now();
      for (const name of names) {
        const firstMs = notes.get(name)?.firstMs ?? nowMs;
        notes.set(name, { firstMs, endsMs: nowMs + holdsMs });
      }
    },

    async since() {
      forgetEnded();
      return new Map([...notes].map(([name, { firstMs }]) => [name, firstMs]));
    },
  };
}
