// Concurrency limits of the task types: read, set, reset the running count. Used by the admin API. The records store
// the durable limits. The live store has the limits in force, which workers read there with every claim.
import type { Actor } from '../../domain/audit.ts';
import { dated } from '../../domain/date-of.ts';
import { kneeOf } from '../../domain/limits/concurrency-curve.ts';
import { TASK_TYPES, type TaskType } from '../../domain/task-type.ts';
import { awaitedWords } from '../../health/capacity.ts';
import type { ConcurrencyLimit, SlotReset } from '../../resources/limits.ts';
import { bringIntoForce } from '../../store/ports/in-force.ts';
import type { PaceState } from '../../store/ports/live/pace.ts';
import type { OperationDeps } from '../deps.ts';
import { type ExpectedVersion, requireVersion, versionOf } from '../requirements.ts';
import { afterRecord } from './recorded.ts';

export class ConcurrencyOperations {
  constructor(private readonly deps: Pick<OperationDeps, 'live' | 'records' | 'audit'>) {}

  async list(): Promise<ConcurrencyLimit[]> {
    const paces = await this.deps.live.pace.states();
    return Promise.all(TASK_TYPES.map((taskType) => this.#limitOf(taskType, paces)));
  }

  async show(taskType: TaskType): Promise<ConcurrencyLimit> {
    return this.#limitOf(taskType, await this.deps.live.pace.states());
  }

  /**
   * Sets a limit for the whole fleet; in force with the next claim of every worker, or where it is raised under
   * `gateway.max_concurrency`, as soon as the leader gives it a share.
   * Throws `conflict` when it is not in the version expected, `unavailable`; after `unavailable` the call may be repeated.
   */
  async set(
    actor: Actor,
    taskType: TaskType,
    maxConcurrency: number,
    expected: ExpectedVersion,
  ): Promise<ConcurrencyLimit> {
    await this.deps.audit.change(actor, async ({ configs }, note) => {
      const before = (await configs.recordedLimits())[taskType].maxConcurrency;
      requireVersion(limitVersion({ taskType, maxConcurrency: before }), expected);
      await configs.setConcurrency(taskType, maxConcurrency);
      note({
        action: 'concurrency.set',
        object: `task_type ${taskType}`,
        before: { maxConcurrency: before },
        after: { maxConcurrency },
      });
    });
    await afterRecord(() => bringIntoForce(this.deps, [taskType]));
    return { ...(await this.show(taskType)), maxConcurrency };
  }

  async #limitOf(taskType: TaskType, paces: readonly PaceState[]): Promise<ConcurrencyLimit> {
    const { work } = this.deps.live;
    const [record, counts] = await Promise.all([work.limitRecord(taskType), work.counts(taskType)]);
    const { effectiveConcurrency, inFlight } = counts;
    const { configs } = this.deps.records;
    const maxConcurrency = counts.maxConcurrency ?? (await configs.recordedLimits())[taskType].maxConcurrency;
    const paceWords = awaitedWords(paces, taskType);
    const curve = record?.curve ?? [];
    const knee = kneeOf(curve);
    return {
      taskType,
      maxConcurrency,
      current: inFlight,
      effectiveConcurrency,
      reason: effectiveConcurrency < maxConcurrency ? (record?.reason ?? paceWords) : paceWords,
      curve: curve.map(dated),
      knee: knee === null ? null : dated(knee),
    };
  }

  /** Clears the running count (operations interface, section 4) and fences the holders of slots. */
  async reset(actor: Actor, taskType: TaskType): Promise<SlotReset> {
    const { work } = this.deps.live;
    const { inFlight } = await work.counts(taskType);
    const change = {
      action: 'concurrency.reset',
      object: `task_type ${taskType}`,
      before: { current: inFlight },
      after: { current: 0 },
    };
    return this.deps.audit.announce(actor, change, async () => ({
      taskType,
      ...(await work.resetSlots(taskType)),
    }));
  }
}

/** @returns the version of the configured limit, not of the one in force. */
export function limitVersion({
  taskType,
  maxConcurrency,
}: Pick<ConcurrencyLimit, 'taskType' | 'maxConcurrency'>): string {
  return versionOf([taskType, maxConcurrency]);
}
