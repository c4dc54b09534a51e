// The stops of the fleet in numbers: the mode in force, the budget, and how many stops were made or wait. Read every few
// seconds for the overview (stats.ts) and the health of the task type that stops cards (stop-reasons.ts).
import { type StopMode, type StopSettings, stopRulesOf } from '../../domain/stops/stop.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { StopControl } from '../../store/ports/records/stop-records.ts';
import type { StopNumbers } from './health-report.ts';

export interface StopFigures extends StopControl {
  /** The mode in force. */
  readonly mode: StopMode;
  /** Stops that the settings of this instance allow; null: no limit. */
  readonly budgetHour: number | null;
  readonly budgetDay: number | null;
  readonly unconfirmed: number;
}

/** Throws CardpollError `unavailable` when the record store does not answer. */
export async function readStopFigures(
  { cards, stops, stopControl }: Pick<RecordStore, 'cards' | 'stops' | 'stopControl'>,
  settings: StopSettings,
): Promise<StopFigures> {
  // One after the other: while a table is locked, this holds one connection.
  const control = await stopControl.read();
  const unconfirmed = await stops.unconfirmed();
  const fleet = await cards.estimate();
  const { mode, maxPerHour, maxPerDay } = stopRulesOf(settings, fleet);
  return {
    ...control,
    mode: control.setMode?.mode ?? mode,
    budgetHour: maxPerHour,
    budgetDay: maxPerDay,
    unconfirmed,
  };
}

/** @param figures null: not known. */
export function stopNumbersOf(figures: StopFigures | null): StopNumbers {
  return {
    mode: figures?.mode ?? null,
    doneHour: figures?.doneHour ?? null,
    doneDay: figures?.doneDay ?? null,
    budgetHour: figures?.budgetHour ?? null,
    budgetDay: figures?.budgetDay ?? null,
    held: figures?.held ?? null,
    observed: figures?.observed ?? null,
    unconfirmed: figures?.unconfirmed ?? null,
    resumedDay: figures?.resumedDay ?? null,
  };
}
