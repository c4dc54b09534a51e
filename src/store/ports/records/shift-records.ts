// Port section of record-store.ts: the records of a past period, for the report that one operator hands over to the next. Reads
// only, each bounded by a number of rows.
import type { Alert } from '../../../domain/alerts/alert-text.ts';

/** From the first instant to the last one, which is excluded; epoch milliseconds. */
export interface Within {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface AlertWithin extends Alert {
  readonly acknowledgedBy: string | null;
}

export interface AlertsWithin {
  /** How many alerts fired in the period, were resolved in it, and were firing at its end. */
  readonly fired: number;
  readonly resolved: number;
  readonly open: number;
  /** Alerts that fired before its end and were not resolved before its start; the latest first. */
  readonly items: readonly AlertWithin[];
}

/** The changes of one kind by one actor. */
export interface ChangeGroup {
  readonly actor: string;
  readonly role: string;
  readonly action: string;
  /** Number of changes; an entry that stands for several counts as several. */
  readonly count: number;
  /** Number of objects that were changed. */
  readonly objects: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly lastId: number;
  /** Object of the last change. */
  readonly object: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ChangesWithin {
  /** Groups of operators first, then of the daemon; each the latest first. */
  readonly groups: readonly ChangeGroup[];
  /** Of all groups, including those that are not listed. */
  readonly total: number;
  /** Start of the counted time, if there are too many changes; null: all are counted. */
  readonly countedFromMs: number | null;
}

export interface CarrierStops {
  /** null: the card was removed. */
  readonly carrierId: number | null;
  /** Stops by the time of the stop; `resumed` by the time of the resume, whenever the card was stopped. */
  readonly done: number;
  readonly requested: number;
  readonly held: number;
  readonly observed: number;
  readonly dismissed: number;
  readonly resumed: number;
}

export interface StopsWithin {
  /** The carriers with the most stops first. */
  readonly carriers: readonly CarrierStops[];
  /** Whether there may be more than were counted. */
  readonly isCut: boolean;
}

export interface ShiftRecords {
  alerts(within: Within, most: number): Promise<AlertsWithin>;
  /**
   * Without imports, which have separate counts.
   * @param counted most entries to read, the latest. @param most groups
   */
  changes(within: Within, counted: number, most: number): Promise<ChangesWithin>;
  /** @param counted most stops, and most resumes, to read, the latest */
  stops(within: Within, counted: number): Promise<StopsWithin>;
}
