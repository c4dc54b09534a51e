// Why the usage of a card may stand still although it is polled: its reading, or many readings of the fleet, are not believed.
// Used by task-explanation.ts. Pure. A reading that grew by more than a card can transfer is stored nowhere; only the log has
// it. So the explanation says how many such readings the fleet has, and where to look for those of the card.
import type { UsageMonth } from '../../domain/cards/usage-month.ts';
import type { StatsReading } from '../../store/ports/live/poll-stats.ts';
import { readingReasons } from '../health/reading-reasons.ts';

/** @param usage null: no reading yet, or a task type that reads no usage. */
export function doubtWords(usage: UsageMonth | null, { window }: Pick<StatsReading, 'window'>): string[] {
  return [...suspectedWords(usage), ...implausibleWords(window)];
}

function suspectedWords(usage: UsageMonth | null): string[] {
  if (usage === null || usage.suspectedMb === null) return [];
  const { suspectedMb, lastReadingMb, readAtMs } = usage;
  return [
    `its reading of ${new Date(readAtMs).toISOString()} is not believed yet: ${suspectedMb} MB after ${lastReadingMb} MB, which the next reading must confirm`,
  ];
}

function implausibleWords({ succeeded: total, implausible }: StatsReading['window']): string[] {
  if (readingReasons({ total, implausible, stopMode: null }).length === 0) return [];
  return [
    `${implausible} of ${total} readings of the fleet were not believed in the last five minutes: if its own are among them, its log lines have implausible_mb`,
  ];
}
