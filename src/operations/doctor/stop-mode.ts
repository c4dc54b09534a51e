// The check of stops: are cards stopped at all, who decided that, and what waits. Used by fleet.ts. Reads the records itself,
// because the health of the fleet does not wait for a slow database.
import { type Finding, ok, warning } from '../../domain/finding.ts';
import type { StopSettings } from '../../domain/stops/stop.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { readStopFigures, type StopFigures } from '../health/stop-figures.ts';

const CHECK = 'stop mode';
const ENFORCE = "cardpoll stops mode enforce --reason 'checked what it would stop'";

export async function stopModeFindings(records: RecordStore, settings: StopSettings): Promise<Finding[]> {
  const figures = await readStopFigures(records, settings);
  const { mode, observed } = figures;
  const detail = `${mode}${originOf(figures, settings)}: `;
  if (mode === 'enforce') return [ok(CHECK, `${detail}${countsOf(figures)}`)];
  return [
    warning(CHECK, `${detail}no card is stopped, ${observed} would have been`, {
      hint: 'look at cardpoll stops list --state observed, then stop cards again',
      command: ENFORCE,
    }),
  ];
}

/** Who set the mode, when and why, and whether the setting says otherwise. */
function originOf({ setMode }: StopFigures, setting: StopSettings): string {
  if (setMode === null) return ', by the setting stops.mode';
  const { by, sinceMs, reason, mode } = setMode;
  const differs =
    mode === setting.mode ? '' : `; the setting stops.mode says ${setting.mode}, without effect`;
  return `, set by ${by} at ${new Date(sinceMs).toISOString()} (${reason})${differs}`;
}

function countsOf({ doneHour, budgetHour, doneDay, budgetDay, held }: StopFigures): string {
  const made = (done: number, budget: number | null) =>
    budget === null ? `${done}` : `${done} of ${budget}`;
  return `${made(doneHour, budgetHour)} stops in the last hour, ${made(doneDay, budgetDay)} in the last day, ${held} held`;
}
