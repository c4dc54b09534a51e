// Fills and searches the manual lists in this process's memory; claims and settlements (work-queue.ts) use them too.
import { triggerIdOf } from '../../../domain/manual-trigger.ts';
import type { TaskType } from '../../../domain/task-type.ts';
import type { ManualList } from '../../ports/live/work-queue.ts';
import type { WorkState } from './work-state.ts';

export function embeddedManualList(stateOf: (taskType: TaskType) => WorkState): ManualList {
  return {
    async push(taskType, entries) {
      const state = stateOf(taskType);
      for (const entry of entries) state.manual.append(entry);
      state.wakeListeners();
    },

    async remove(taskType, triggerIds) {
      const removed = new Set<string | null>(triggerIds);
      return stateOf(taskType).manual.remove((entry) => removed.has(triggerIdOf(entry)));
    },

    running: async (taskType) => [...stateOf(taskType).manualLeases.entries()].map(({ member }) => member),

    async missing(taskType, entries) {
      const { manual, manualLeases } = stateOf(taskType);
      const waiting = new Set(manual.entries());
      return entries.filter((entry) => !waiting.has(entry) && manualLeases.scoreOf(entry) === undefined);
    },
  };
}
