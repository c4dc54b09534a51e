// Port section of record-store.ts: what the records say about a time that is over, for the report that one operator hands over
// to the next. Reads alone, each bounded by a number of rows.
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
  /** How many fired in the time, were resolved in it, and fired at its end. */
  readonly fired: number;
  readonly resolved: number;
  readonly open: number;
  /** Those that fired before its end and were not resolved before its start; the latest first. */
  readonly items: readonly AlertWithin[];
}

/** The changes of one kind by one actor. */
export interface ChangeGroup {
  readonly actor: string;
  readonly role: string;
  readonly action: string;
  /** Changes; an entry that stands for several counts as these. */
  readonly count: number;
  /** How many objects were changed. */
  readonly objects: number;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  readonly lastId: number;
  /** Of the last change. */
  readonly object: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface ChangesWithin {
  /** Those of operators first, then those of the daemon; the latest first. */
  readonly groups: readonly ChangeGroup[];
  /** Of all groups, also of those that are not listed. */
  readonly total: number;
  /** From when on they are counted, because there are too many; null: all are counted. */
  readonly countedFromMs: number | null;
}

export interface CarrierStops {
  /** null: the card was removed. */
  readonly carrierId: number | null;
  /** Stops by the time of the stop; `resumed` by that of the resume, whenever the card was stopped. */
  readonly done: number;
  readonly requested: number;
  readonly held: number;
  readonly observed: number;
  readonly dismissed: number;
  readonly resumed: number;
}

export interface StopsWithin {
  /** The carriers with most stops first. */
  readonly carriers: readonly CarrierStops[];
  /** Whether there may be more than were counted. */
  readonly isCut: boolean;
}

export interface ShiftRecords {
  alerts(within: Within, most: number): Promise<AlertsWithin>;
  /**
   * Without imports, which have counts of their own.
   * @param counted entries that are read at most, the latest. @param most groups
   */
  changes(within: Within, counted: number, most: number): Promise<ChangesWithin>;
  /** @param counted stops, and resumes, that are read at most, the latest */
  stops(within: Within, counted: number): Promise<StopsWithin>;
}
