// Pauses stop the polling of a task type for a time. Workers set a pause when the gateway asks for one (429, 503);
// operators set one when the gateway's owner announces maintenance. Used by the admin API.
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import type { Pausable } from '../../domain/limits/operator-limits.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import type { Pause } from '../../store/ports/live/work-queue.ts';
import type { OperationMeans } from '../means.ts';
import type { PauseReport } from './limits-report.ts';

interface OperatorPause {
  readonly taskType: Pausable;
  readonly seconds: number;
  readonly reason: string;
}

/** All methods throw CardpollError `unavailable` when the live store does not answer. */
export class PauseOperations {
  constructor(private readonly deps: Pick<OperationMeans, 'live' | 'audit'>) {}

  async list(): Promise<PauseReport[]> {
    return pauseReports(await this.deps.live.work.pauses());
  }

  /**
   * Stops all polling of a task type, including manual triggers, for `seconds` from now; calls in flight end normally.
   * A new pause replaces the operators' current one. @returns the new pauses.
   */
  async pause(actor: Actor, { taskType, seconds, reason }: OperatorPause): Promise<PauseReport[]> {
    const types = typesOf(taskType);
    const ofOperators = (pause: PauseReport) => pause.source === 'operator' && types.includes(pause.taskType);
    const present = (await this.list()).filter(ofOperators);
    const change = {
      action: 'pause.begin',
      object: `task_type ${taskType}`,
      before: present.length === 0 ? null : { pauses: present },
      after: { seconds, reason },
    };
    return this.deps.audit.announce(actor, change, async () => {
      for (const type of types) {
        await this.deps.live.work.pause(type, {
          source: 'operator',
          ms: seconds * 1000,
          reason,
          by: actor.name,
        });
      }
      return (await this.list()).filter(ofOperators);
    });
  }

  /** Ends every pause of a task type, including one that the gateway asked for. @returns the pauses that were ended. */
  async resume(actor: Actor, taskType: Pausable): Promise<PauseReport[]> {
    const types = typesOf(taskType);
    const pauses = (await this.list()).filter((pause) => types.includes(pause.taskType));
    if (pauses.length === 0) return [];
    const change = {
      action: 'pause.end',
      object: `task_type ${taskType}`,
      before: { pauses },
      after: null,
    };
    return this.deps.audit.announce(actor, change, async () => {
      const ended: Pause[] = [];
      for (const type of types) ended.push(...(await this.deps.live.work.resume(type)));
      return pauseReports(ended);
    });
  }
}

function typesOf(taskType: Pausable): readonly TaskType[] {
  return taskType === 'all' ? TASK_TYPES : [taskType];
}

/** By task type, the longest remaining one first. */
export function pauseReports(pauses: readonly Pause[]): PauseReport[] {
  const order = (pause: Pause) => TASK_TYPES.indexOf(pause.taskType);
  return [...pauses].sort((a, b) => order(a) - order(b) || b.untilMs - a.untilMs).map(dated);
}
