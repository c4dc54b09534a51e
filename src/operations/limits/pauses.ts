// Pauses stop the polling of a task type for a time. Workers set a pause when the gateway asks for one (429, 503);
// operators set one when the gateway's owner announces maintenance. Used by the admin API.
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import { lackOfReason, type Pausable } from '../../domain/limits/operator-limits.ts';
import { windowOfPause } from '../../domain/schedule/maintenance.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { PauseReport } from '../../resources/limits.ts';
import { bringIntoForce } from '../../store/ports/in-force.ts';
import type { Pause } from '../../store/ports/live/work-queue.ts';
import type { OperationDeps } from '../deps.ts';
import { afterRecord } from './recorded.ts';

interface OperatorPause {
  readonly taskType: Pausable;
  readonly seconds: number;
  readonly reason: string;
}

/** All methods throw CardpollError `unavailable` when a store that they need does not answer. */
export class PauseOperations {
  constructor(private readonly deps: Pick<OperationDeps, 'live' | 'records' | 'audit'>) {}

  /** @returns the pauses in force. */
  async list(): Promise<PauseReport[]> {
    return pauseReports(await this.deps.live.work.pauses());
  }

  /**
   * Stops all polling of a task type, including manual triggers, for `seconds` from now; calls in flight end normally.
   * A new pause replaces the operators' current one. @returns the new pauses.
   * @throws CardpollError `invalid` for a long one without a reason.
   */
  async pause(actor: Actor, { taskType, seconds, reason }: OperatorPause): Promise<PauseReport[]> {
    const lack = lackOfReason(taskType, seconds, reason);
    if (lack !== null)
      throw new CardpollError('invalid', 'pause_reason_missing', lack.problem, { hint: lack.command });
    const types = typesOf(taskType);
    const present = await this.#ofOperators(types);
    const sinceMs = Math.round(await this.deps.live.now());
    const untilMs = sinceMs + seconds * 1_000;
    const pauses = await this.deps.audit.change(actor, async ({ configs }, note) => {
      await configs.pause(types, { seconds, reason, by: actor.name });
      note({
        action: 'pause.begin',
        object: `task_type ${taskType}`,
        before: present.length === 0 ? null : { pauses: present },
        after: { seconds, reason },
      });
      const { name: by } = actor;
      return types.map((type) =>
        pauseReport({ taskType: type, source: 'operator', reason, by, id: null, sinceMs, untilMs }),
      );
    });
    await afterRecord(() => bringIntoForce(this.deps, types));
    return pauses;
  }

  /**
   * Ends every pause of a task type, including one that the gateway asked for. @returns the pauses that were ended.
   * @throws CardpollError `conflict` in a maintenance window, which is cancelled by its id: a colleague may count on it.
   */
  async resume(actor: Actor, taskType: Pausable): Promise<PauseReport[]> {
    const types = typesOf(taskType);
    const ofGateway = (await this.list()).filter(
      (pause) => pause.source === 'gateway' && types.includes(pause.taskType),
    );
    const pauses = inOrder([...(await this.#ofOperators(types)), ...ofGateway]);
    const window = pauses.find(({ maintenanceId }) => maintenanceId !== null);
    if (window !== undefined) throw inMaintenance(window);
    if (pauses.length === 0) return [];
    await this.deps.audit.change(actor, async ({ configs }, note) => {
      await configs.endPauses(types);
      note({ action: 'pause.end', object: `task_type ${taskType}`, before: { pauses }, after: null });
    });
    await afterRecord(async () => {
      for (const type of types) await this.deps.live.work.resume(type);
    });
    return pauses;
  }

  /** The pauses of operators: in force, or of record where a live store that has just lost its data does not have them yet. */
  async #ofOperators(types: readonly TaskType[]): Promise<PauseReport[]> {
    const { live, records } = this.deps;
    const inForce = (await this.list()).filter(({ source }) => source === 'operator');
    const record = await records.configs.recordedLimits();
    const nowMs = await live.now();
    const lost = types.flatMap((taskType) => {
      const { pause } = record[taskType];
      if (pause === null || inForce.some((one) => one.taskType === taskType)) return [];
      const { id, reason, by, leftMs, lastsMs } = pause;
      const untilMs = nowMs + leftMs;
      const sinceMs = untilMs - lastsMs;
      return pauseReport({ taskType, source: 'operator', reason, by, id, sinceMs, untilMs });
    });
    return inOrder([...inForce.filter((one) => types.includes(one.taskType)), ...lost]);
  }
}

function typesOf(taskType: Pausable): readonly TaskType[] {
  return taskType === 'all' ? TASK_TYPES : [taskType];
}

export function pauseReports(pauses: readonly Pause[]): PauseReport[] {
  return inOrder(pauses.map(pauseReport));
}

export function pauseReport({ id, ...pause }: Pause): PauseReport {
  return { ...dated(pause), maintenanceId: windowOfPause(id) };
}

function inMaintenance({ maintenanceId: id, taskType, until }: PauseReport): CardpollError {
  return new CardpollError(
    'conflict',
    'in_maintenance',
    `${taskType} is in maintenance ${id} until ${until.toISOString()}, and no pause was ended`,
    { hint: `\`cardpoll maintenance cancel ${id}\` ends it` },
  );
}

/** By task type, the longest remaining one first. */
function inOrder(pauses: readonly PauseReport[]): PauseReport[] {
  const order = (pause: PauseReport) => TASK_TYPES.indexOf(pause.taskType);
  return [...pauses].sort((a, b) => order(a) - order(b) || b.until.getTime() - a.until.getTime());
}
