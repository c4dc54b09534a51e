// Notes in the audit trail and the log when maintenance windows begin and end by themselves. Runs on the leader. What is noted is kept with
// the window, in one transaction with the entry, so that each is noted once, also by the next leader.
import { DAEMON } from '../../domain/audit.ts';
import { type MaintenanceWindow, scopeWords, traceOf } from '../../domain/schedule/maintenance.ts';
import type { Logger } from '../../platform/logger.ts';
import { LoopService } from '../../platform/loop.ts';
import type { AuditTrail } from '../../store/ports/records/audit-trail.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderDeps } from '../leadership.ts';

const LOOK_EVERY_MS = 1_000;

export class MaintenanceLog extends LoopService<
  LeaderDeps & {
    readonly records: Pick<RecordStore, 'maintenance' | 'now'>;
    readonly audit: Pick<AuditTrail, 'change'>;
    readonly log: Logger;
  }
> {
  readonly name = 'maintenance-log';

  async runOnce(): Promise<number> {
    const { fence, records, audit } = this.deps;
    if (fence() === null) return LOOK_EVERY_MS;
    const windows = await records.maintenance.open();
    if (windows.length === 0) return LOOK_EVERY_MS;
    const nowMs = await records.now();
    const isDue = ({ startsAtMs, endsAtMs, begunAtMs }: MaintenanceWindow) =>
      (begunAtMs === null && startsAtMs <= nowMs) || endsAtMs <= nowMs;
    if (!windows.some(isDue) || fence() === null) return LOOK_EVERY_MS;
    const { begun, ended } = await audit.change(DAEMON, async ({ maintenance }, note) => {
      const turned = await maintenance.turn();
      for (const one of turned.begun) {
        note({
          action: 'maintenance.begin',
          object: `maintenance ${one.id}`,
          before: null,
          after: traceOf(one),
        });
      }
      for (const one of turned.ended) {
        note({
          action: 'maintenance.end',
          object: `maintenance ${one.id}`,
          before: traceOf(one),
          after: null,
        });
      }
      return turned;
    });
    for (const one of begun) this.deps.log.warn(fieldsOf(one), 'maintenance begins');
    for (const one of ended) this.deps.log.info(fieldsOf(one), 'maintenance is over');
    return LOOK_EVERY_MS;
  }
}

function fieldsOf(window: MaintenanceWindow): Record<string, unknown> {
  const { id, reason, by, endsAtMs } = window;
  return { maintenance: id, what: scopeWords(window), reason, by, until: new Date(endsAtMs).toISOString() };
}
