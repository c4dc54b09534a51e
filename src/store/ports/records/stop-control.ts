// Port section of record-store.ts: what decides about all stops of the fleet: the mode, the number of recent stops, and a
// jump of the fleet's readings.
import type { StopMode } from '../../../domain/stops/stop.ts';

/** The mode that an operator set at run time. */
interface SetStopMode {
  readonly mode: StopMode;
  readonly sinceMs: number;
  readonly by: string;
  readonly reason: string;
}

/** The readings of the whole fleet grow much faster than in the hour before. */
export interface UsageJump {
  readonly sinceMs: number;
  /** Median growth of the last minutes, as a multiple of the baseline. */
  readonly factor: number;
  /** Median growth of the readings before the jump, and of the last minutes, MB per hour. */
  readonly baselineMbPerHour: number;
  readonly recentMbPerHour: number;
  /** When an operator accepted the readings as right, so that they hold no stop; null: they hold all stops. */
  readonly acceptedAtMs: number | null;
}

export interface StopControl {
  /** null: each instance has the mode of its setting. */
  readonly setMode: SetStopMode | null;
  readonly jump: UsageJump | null;
  /** Stops called in the last hour and the last day. */
  readonly doneHour: number;
  readonly doneDay: number;
  /** Stops that wait for an operator, that were only observed, and cards resumed in the last day; up to STOPS_COUNTED. */
  readonly held: number;
  readonly observed: number;
  readonly resumedDay: number;
}

export interface StopControlRecords {
  read(): Promise<StopControl>;
  /** Sets the mode for the whole fleet, in force with the next claim; mode enforce also accepts a jump of the readings. */
  setMode(mode: StopMode, by: string, reason: string): Promise<void>;

  /** @returns the jump that began and is not over yet; null: there is none. */
  jump(): Promise<UsageJump | null>;
  /** @returns false when a jump has already begun. */
  beginJump(jump: Pick<UsageJump, 'factor' | 'baselineMbPerHour' | 'recentMbPerHour'>): Promise<boolean>;
  /** @returns false when there is none. */
  endJump(): Promise<boolean>;
}
