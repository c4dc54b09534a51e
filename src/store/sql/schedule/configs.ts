// Polling configs, and the concurrency limits and pauses of operators: small tables, read as a whole.

import type { PauseOfRecord, RecordedLimits } from '../../../domain/limits/in-force.ts';
import { DEFAULT_MAX_CONCURRENCY } from '../../../domain/limits/operator-limits.ts';
import { perTaskType, type TaskType } from '../../../domain/task-type.ts';
import type { ConfigRecords } from '../../ports/records/record-store.ts';
import { jsonOf } from '../client/rows.ts';
import type { SqlClient } from '../client/sql-client.ts';
import { sqlStateOf, UNIQUE_VIOLATION } from '../client/sql-errors.ts';
import { statements } from '../client/statements.ts';
import file from './configs.sql';

const sql = statements(file);

/** A handful of rows, and their answer proves that the database is reached (engine/schedule/config-watch.ts). */
const LIST_ANSWER_TIMEOUT_MS = 3_000;

export function sqlConfigs(client: SqlClient): ConfigRecords {
  const db = sql.on(client);
  return {
    list: () => sql.on(client, LIST_ANSWER_TIMEOUT_MS).rows('list'),

    async create(config) {
      try {
        // A transaction of its own, so that one around it survives the attempt.
        return await client.transaction((tx) => sql.on(tx).one('create', jsonOf(config)));
      } catch (error) {
        if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
        await db.run('passUsedIds');
        return db.one('create', jsonOf(config));
      }
    },

    update: (id, patch) => db.first('update', id, jsonOf(patch)),
    remove: (id) => db.first('remove', id),

    async recordedLimits() {
      const rows = await db.rows<RecordRow>('recordedLimits');
      const found = new Map(rows.map((row) => [row.taskType, row]));
      return perTaskType((taskType) => recordedLimits(found.get(taskType)));
    },

    setConcurrency: (taskType, max) => db.run('setConcurrency', taskType, max),
    pause: (taskTypes, { seconds, reason, by }) => db.run('pause', taskTypes, seconds, reason, by),
    endPauses: (taskTypes) => db.run('endPauses', taskTypes),

    ringMarks: () => db.rows('ringMarks'),
    saveRingMarks: (marks) => db.run('saveRingMarks', jsonOf(marks)),
  };
}

type RecordRow = { [Field in keyof PauseOfRecord]: PauseOfRecord[Field] | null } & {
  readonly taskType: TaskType;
  readonly maxConcurrency: number | null;
  readonly lastPause: RecordedLimits['lastPause'];
};

function recordedLimits(row: RecordRow | undefined): RecordedLimits {
  const {
    maxConcurrency = null,
    id = null,
    lastsMs = null,
    leftMs = null,
    reason = null,
    by = null,
    lastPause = null,
  } = row ?? {};
  const isPaused = id !== null && lastsMs !== null && leftMs !== null && reason !== null && by !== null;
  return {
    maxConcurrency: maxConcurrency ?? DEFAULT_MAX_CONCURRENCY,
    pause: isPaused ? { id, lastsMs, leftMs, reason, by } : null,
    lastPause,
  };
}
