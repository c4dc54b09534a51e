// Maintenance windows, planned ahead: in them task types are not polled, of the whole fleet or of one carrier. Used by the admin API. The
// leader begins and ends them (engine/schedule/maintenance-log.ts); one of the whole fleet is a pause (store/sql/schedule/configs.sql).
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import { RECORD_ID_BOUNDS } from '../../domain/page.ts';
import {
  isInForce,
  MAINTENANCE_SECONDS_BOUNDS,
  type MaintenanceScope,
  type MaintenanceWindow,
  overlapping,
  scopeWords,
  startProblem,
  traceOf,
} from '../../domain/schedule/maintenance.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { MaintenanceReport } from '../../resources/limits.ts';
import { bringIntoForce } from '../../store/ports/in-force.ts';
import type { OperationDeps } from '../deps.ts';
import { isWithin, wholeNumberWithin } from '../requirements.ts';
import { afterRecord } from './recorded.ts';

interface MaintenanceOrder extends MaintenanceScope {
  readonly startsAtMs: number;
  readonly seconds: number;
  readonly reason: string;
}

/** All methods throw CardpollError `unavailable` when a store that they need does not answer. */
export class MaintenanceOperations {
  constructor(private readonly deps: Pick<OperationDeps, 'live' | 'records' | 'audit'>) {}

  /** @returns what is planned or in force, the first to start first. */
  async list(): Promise<MaintenanceReport[]> {
    const { records } = this.deps;
    const [windows, nowMs] = await Promise.all([records.maintenance.open(), records.now()]);
    return windows.map((window) => maintenanceReportOf(window, nowMs));
  }

  /**
   * @throws CardpollError `invalid`, which names each wrong field; `conflict` for a window that overlaps another one of the same task type
   * and carrier.
   */
  async plan(actor: Actor, order: MaintenanceOrder): Promise<MaintenanceReport> {
    const { records, audit } = this.deps;
    const { taskType, carrierId, startsAtMs, seconds, reason } = order;
    const planned = { taskType, carrierId, startsAtMs, endsAtMs: startsAtMs + seconds * 1_000, reason };
    const { window, nowMs } = await audit.prepared(
      actor,
      async () => {
        const nowMs = await records.now();
        await this.#requireValid(order, nowMs);
        return nowMs;
      },
      async (nowMs, { maintenance }, note) => {
        const other = overlapping(planned, await maintenance.open());
        if (other !== null) throw overlap(other);
        const window = await maintenance.plan({ ...planned, by: actor.name });
        note({
          action: 'maintenance.plan',
          object: `maintenance ${window.id}`,
          before: null,
          after: traceOf(window),
        });
        return { window, nowMs };
      },
    );
    if (isInForce(window, nowMs)) await this.#enforce(window);
    return maintenanceReportOf(window, nowMs);
  }

  /** Ends a window, or drops a planned one. @throws CardpollError `not_found` for one that is over, or was never planned. */
  async cancel(actor: Actor, id: number): Promise<MaintenanceReport> {
    const { audit } = this.deps;
    const { window, nowMs } = await audit.change(actor, async (inTurn, note) => {
      const nowMs = await inTurn.now();
      const found = isWithin(RECORD_ID_BOUNDS, id) ? await inTurn.maintenance.cancel(id) : null;
      if (found === null || found.endsAtMs <= nowMs) {
        throw new CardpollError(
          'not_found',
          'maintenance_not_found',
          `no maintenance ${id} is planned or in force`,
          {
            hint: '`cardpoll maintenance` lists what is; `cardpoll audit` has those that are over',
          },
        );
      }
      note({
        action: 'maintenance.cancel',
        object: `maintenance ${id}`,
        before: { ...traceOf(found), state: stateOf(found, nowMs) },
        after: null,
      });
      return { window: found, nowMs };
    });
    if (isInForce(window, nowMs)) await this.#enforce(window);
    return maintenanceReportOf(window, nowMs);
  }

  async #requireValid(order: MaintenanceOrder, nowMs: number): Promise<void> {
    const { carrierId, startsAtMs, seconds, reason } = order;
    const fields: Array<{ field: string; message: string }> = [];
    const start = startProblem(startsAtMs, nowMs);
    if (start !== null) fields.push({ field: 'from', message: start });
    if (!isWithin(MAINTENANCE_SECONDS_BOUNDS, seconds))
      fields.push({ field: 'seconds', message: wholeNumberWithin(MAINTENANCE_SECONDS_BOUNDS) });
    if (reason.trim() === '') fields.push({ field: 'reason', message: 'is required' });
    if (carrierId !== null) {
      const { rows } = await this.deps.records.triggers.countSelected({ carrierId, status: null });
      if (rows === 0) fields.push({ field: 'carrierId', message: `no card has carrier ${carrierId}` });
    }
    if (fields.length > 0)
      throw new CardpollError('invalid', 'invalid_field', 'the maintenance cannot be planned', { fields });
  }

  /** Of the whole fleet: its pause begins or ends at once. The workers see one of a carrier within a second. */
  async #enforce({ taskType, carrierId }: MaintenanceWindow): Promise<void> {
    if (carrierId !== null) return;
    const types = taskType === null ? TASK_TYPES : [taskType];
    await afterRecord(() => bringIntoForce(this.deps, types));
  }
}

function overlap(other: MaintenanceWindow): CardpollError {
  const [from, to] = [other.startsAtMs, other.endsAtMs].map((ms) => new Date(ms).toISOString());
  return new CardpollError(
    'conflict',
    'maintenance_overlaps',
    `maintenance ${other.id} of ${scopeWords(other)} is planned from ${from} to ${to}: two may not overlap for the same task type and carrier`,
    { hint: `\`cardpoll maintenance cancel ${other.id}\`, or choose another time, task type or carrier` },
  );
}

function stateOf(window: MaintenanceWindow, nowMs: number) {
  return window.startsAtMs <= nowMs ? ('running' as const) : ('planned' as const);
}

export function maintenanceReportOf(window: MaintenanceWindow, nowMs: number): MaintenanceReport {
  const { begunAtMs: _, ...rest } = window;
  return { ...dated(rest), state: stateOf(window, nowMs) };
}
