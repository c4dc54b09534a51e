// Port section of record-store.ts: maintenance windows, used by the operations, by the leader, who notes their begin and end, and by
// every worker. A window of the whole fleet is in force as a pause of record (ConfigRecords.recordedLimits).
import type { MaintenanceWindow } from '../../../domain/schedule/maintenance.ts';

type PlannedWindow = Omit<MaintenanceWindow, 'id' | 'begunAtMs'>;

export interface MaintenanceRecords {
  /** @returns the windows that are planned or in force, the first to start first. */
  open(): Promise<MaintenanceWindow[]>;
  plan(window: PlannedWindow): Promise<MaintenanceWindow>;
  /** Ends a window, or drops one that is only planned. @returns it; null: it is over, or there never was one. */
  cancel(id: number): Promise<MaintenanceWindow | null>;
  /**
   * Notes which windows have begun and ended by the database's clock: each is returned once, as one that has begun and as one that has
   * ended. Forgets windows that have been over for a week.
   */
  turn(): Promise<{ readonly begun: MaintenanceWindow[]; readonly ended: MaintenanceWindow[] }>;
}
