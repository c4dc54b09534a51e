// What the readings of usage add to the reasons of health-reasons.ts: readings that are not believed. They count nothing, so no
// other number shows them, and they are believed as soon as enough time has passed to carry them. Pure.
import type { StopMode } from '../../domain/stops/stop.ts';
import type { HealthReason } from './health-report.ts';

export type ReadingCode = 'implausible_readings';

interface ReadingCause extends Pick<HealthReason, 'severity' | 'text' | 'command'> {
  readonly code: ReadingCode;
}

/** Readings of usage in the last five minutes. */
export interface ReadingCounts {
  readonly total: number;
  /** Those that were not believed; 0 for a task type that reads no usage. */
  readonly implausible: number;
  /** The mode of stops in force; null: not known. */
  readonly stopMode: StopMode | null;
}

/** With fewer readings a share says little. */
const LEAST_READINGS = 10;
const IMPLAUSIBLE_PERCENT = { warningAbove: 5, alertAbove: 50 };

export function readingReasons({ total, implausible, stopMode }: ReadingCounts): ReadingCause[] {
  const percent = (100 * implausible) / Math.max(1, total);
  if (total < LEAST_READINGS || percent <= IMPLAUSIBLE_PERCENT.warningAbove) return [];
  const text =
    `${figure(implausible)} of ${figure(total)} readings of the last five minutes were not believed (${Number(percent.toFixed(1))} %): ` +
    'they grew by more than a card can transfer, and count nothing; compare some with the carrier, and check the unit of the gateway profile';
  const severity = percent > IMPLAUSIBLE_PERCENT.alertAbove ? 'alert' : 'warning';
  // Wrong readings would stop cards once they are believed.
  const command =
    stopMode === 'observe'
      ? 'cardpoll gateway profiles'
      : "cardpoll stops mode observe --reason 'readings are not believed'";
  return [{ code: 'implausible_readings', severity, text, command }];
}

function figure(count: number): string {
  return count.toLocaleString('en-US');
}
