// Fills and searches the manual lists in this process's memory; claims and settlements (work-queue.ts) use them too.
import { triggerIdOf } from '../../../domain/manual-trigger.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { ManualList } from '../../ports/live/work-queue.ts';
import type { WorkState } from './work-state.ts';

export class EmbeddedManualList implements ManualList {
  constructor(private readonly stateOf: (taskType: TaskType) => WorkState) {}

  async push(taskType: TaskType, entries: readonly string[]): Promise<void> {
    const state = this.stateOf(taskType);
    for (const entry of entries) state.manual.append(entry);
    state.wakeListeners();
  }

  async remove(taskType: TaskType, triggerIds: readonly string[]): Promise<number> {
    const removed = new Set<string | null>(triggerIds);
    return this.stateOf(taskType).manual.remove((entry) => removed.has(triggerIdOf(entry)));
  }

  async running(taskType: TaskType): Promise<string[]> {
    return [...this.stateOf(taskType).manualLeases.entries()].map(({ member }) => member);
  }

  async missing(taskType: TaskType, entries: readonly string[]): Promise<string[]> {
    const { manual, manualLeases } = this.stateOf(taskType);
    const waiting = new Set(manual.entries());
    return entries.filter((entry) => !waiting.has(entry) && manualLeases.scoreOf(entry) === undefined);
  }
}
