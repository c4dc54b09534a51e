// The mode of stops, their recent number and jumps of the readings: one row (migration 0014), and counts of stops.
import { STOPS_COUNTED, type StopMode } from '../../../domain/stops/stop.ts';
import type { StopControl, StopControlRecords, UsageJump } from '../../ports/records/stop-records.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { statements } from '../client/statements.ts';
import file from './stop-control.sql';

const SQL = statements(file, 'read', 'setMode', 'jump', 'beginJump', 'endJump');

interface JumpRow {
  readonly jumpSinceMs: number | null;
  readonly jumpFactor: number;
  readonly jumpBaseline: number;
  readonly jumpRecent: number;
  readonly jumpAcceptedAtMs: number | null;
}

interface ControlRow
  extends JumpRow,
    Pick<StopControl, 'doneHour' | 'doneDay' | 'held' | 'observed' | 'resumedDay'> {
  readonly mode: StopMode | null;
  readonly modeSinceMs: number;
  readonly modeBy: string;
  readonly modeReason: string;
}

export function sqlStopControl(client: SqlClient): StopControlRecords {
  return {
    async read() {
      const [row] = await client.query<ControlRow>(SQL.read, [STOPS_COUNTED]);
      if (row === undefined) throw new Error('stop_control has no row');
      const { mode, doneHour, doneDay, held, observed, resumedDay } = row;
      const setMode =
        mode === null ? null : { mode, sinceMs: row.modeSinceMs, by: row.modeBy, reason: row.modeReason };
      return { setMode, jump: jumpOf(row), doneHour, doneDay, held, observed, resumedDay };
    },

    async setMode(mode, by, reason) {
      await client.query(SQL.setMode, [mode, by, reason]);
    },

    async jump() {
      const [row] = await client.query<JumpRow>(SQL.jump);
      return row === undefined ? null : jumpOf(row);
    },

    async beginJump({ factor, baselineMbPerHour, recentMbPerHour }) {
      const params = [factor, baselineMbPerHour, recentMbPerHour];
      return (await client.query(SQL.beginJump, params)).length > 0;
    },

    endJump: async () => (await client.query(SQL.endJump)).length > 0,
  };
}

function jumpOf(row: JumpRow): UsageJump | null {
  if (row.jumpSinceMs === null) return null;
  return {
    sinceMs: row.jumpSinceMs,
    factor: row.jumpFactor,
    baselineMbPerHour: row.jumpBaseline,
    recentMbPerHour: row.jumpRecent,
    acceptedAtMs: row.jumpAcceptedAtMs,
  };
}
