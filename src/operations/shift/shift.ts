// The report of a shift: reads what happened in a time and what is open now. Used by the admin API. What follows from the facts is
// decided in shift-of.ts.
import { dated } from '../../domain/date-of.ts';
import { keptSlotsWithin } from '../../domain/stats/carrier-slots.ts';
import type { StopSettings } from '../../domain/stops/stop.ts';
import { askPerTaskType } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { ShiftReport } from '../../resources/report.ts';
import type { ResumeRun } from '../../store/ports/records/resume-records.ts';
import type { Within } from '../../store/ports/records/shift-records.ts';
import type { OperationDeps } from '../deps.ts';
import { pauseReports } from '../limits/pauses.ts';
import { type ShiftFacts, shiftOf } from './shift-of.ts';

interface ShiftDeps extends Pick<OperationDeps, 'records' | 'live' | 'health' | 'calendar'> {
  /** Their mode is in force until an operator sets one. */
  readonly stops: Pick<StopSettings, 'mode'>;
}

/** null: eight hours before the end; now. */
interface GivenTimes {
  readonly sinceMs: number | null;
  readonly untilMs: number | null;
}

const USUAL_MS = 8 * 3_600_000;
const MOST_DAYS = 90;
/** The caller's clock may differ from the database's, and a request takes time. */
const CLOCKS_DIFFER_MS = 60_000;

const ALERTS_LISTED = 200;
const GROUPS_LISTED = 100;
/** Entries, and stops, that are read at most. */
const COUNTED = 100_000;
const IMPORTS_COUNTED = 1_000;
const FIRING_READ = 100;
const RUNS_SHOWN = 10;
const IMPORT_ENDS = ['cards.import.end', 'cards.import.failed'];

export class ShiftOperations {
  constructor(private readonly deps: ShiftDeps) {}

  /**
   * What the live store does not say is left out, with the reason.
   * @throws CardpollError `invalid` for a time that cannot be reported; `unavailable` without the records.
   */
  async report(given: GivenTimes): Promise<ShiftReport> {
    const { records, calendar, stops } = this.deps;
    const nowMs = await records.now();
    const within = withinOf(given, nowMs);
    const [alerts, imports, changes, stopped, live] = await Promise.all([
      records.shift.alerts(within, ALERTS_LISTED),
      records.audit.changes(within, IMPORT_ENDS, IMPORTS_COUNTED),
      records.shift.changes(within, COUNTED, GROUPS_LISTED),
      records.shift.stops(within, COUNTED),
      this.#live(within),
    ]);
    const [firing, control, runs, silences, retention] = await Promise.all([
      records.alerts.history({ ruleId: null, state: 'firing' }, { offset: 0, limit: FIRING_READ }),
      records.stopControl.read(),
      this.#openRuns(),
      records.alerts.silences.list(),
      records.cleanup.configs(),
    ]);
    return shiftOf({
      ...{ within, nowMs, alerts, imports, changes, stops: stopped, live, firing, control, runs, retention },
      ...{ silences: silences.map(dated), stopModeOfSettings: stops.mode, calendar },
    });
  }

  async #live({ fromMs, toMs }: Within): Promise<ShiftFacts['live']> {
    const { live, health } = this.deps;
    try {
      const nowMs = await live.now();
      const slots = keptSlotsWithin(fromMs, toMs, nowMs);
      const [samples, pauses, { reasons, maintenance }, carrierSlots] = await Promise.all([
        live.history.read('minute', fromMs),
        live.work.pauses(),
        health.judge(),
        askPerTaskType((taskType) => live.stats.carrierSlots(taskType, slots)),
      ]);
      return { samples, pauses: pauseReports(pauses), maintenance, reasons, carrierSlots };
    } catch (error) {
      if (!(error instanceof CardpollError) || error.kind !== 'unavailable') throw error;
      return { unknown: error.message };
    }
  }

  /** Runs in which cards wait, the oldest first. */
  async #openRuns(): Promise<ResumeRun[]> {
    const { resumes } = this.deps.records;
    const ids = (await resumes.open()).slice(0, RUNS_SHOWN);
    const runs = await Promise.all(ids.map((id) => resumes.find(id)));
    return runs.filter((run) => run !== null && run.finishedAtMs === null) as ResumeRun[];
  }
}

/** @throws CardpollError `invalid`. */
export function withinOf({ sinceMs, untilMs }: GivenTimes, nowMs: number): Within {
  const toMs = Math.min(untilMs ?? nowMs, nowMs);
  const fromMs = sinceMs ?? toMs - USUAL_MS;
  if (fromMs > nowMs + CLOCKS_DIFFER_MS)
    throw wrong('since', `must not be in the future: it is ${new Date(nowMs).toISOString()}`);
  if (untilMs !== null && untilMs < fromMs) throw wrong('until', 'must not be before since');
  if (toMs - fromMs > MOST_DAYS * 86_400_000 + CLOCKS_DIFFER_MS)
    throw wrong('since', `must be at most ${MOST_DAYS} days before until`);
  return { fromMs: Math.min(fromMs, toMs), toMs };
}

function wrong(field: string, message: string): CardpollError {
  return new CardpollError('invalid', 'invalid_field', 'the time of the report is not valid', {
    fields: [{ field, message }],
  });
}
