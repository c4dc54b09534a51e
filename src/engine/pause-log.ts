// Writes a line when a task type is paused and when it goes on, once for the fleet: runs on the leader. A pause that is
// prolonged is the same pause; a new leader tells of those in force again.

import type { Logger } from '../platform/logger.ts';
import { type LoopErrorHandler, LoopService } from '../platform/loop.ts';
import type { Pause, WorkQueue } from '../store/live-store.ts';

const LOOK_EVERY_MS = 500;

export class PauseLog extends LoopService {
  #known = new Map<string, Pause>();

  constructor(
    private readonly deps: {
      readonly work: Pick<WorkQueue, 'pauses'>;
      readonly fence: () => number | null;
      readonly log: Logger;
      readonly onError: LoopErrorHandler;
    },
  ) {
    super('pause-log', deps.onError);
  }

  async runOnce(): Promise<number> {
    if (this.deps.fence() === null) {
      this.#known.clear();
      return LOOK_EVERY_MS;
    }
    const { log } = this.deps;
    const now = new Map((await this.deps.work.pauses()).map((pause) => [keyOf(pause), pause]));
    for (const [key, pause] of now) if (!this.#known.has(key)) log.warn(fieldsOf(pause), 'polling paused');
    for (const [key, pause] of this.#known) {
      if (!now.has(key)) log.info({ task_type: pause.taskType, source: pause.source }, 'polling resumed');
    }
    this.#known = now;
    return LOOK_EVERY_MS;
  }
}

function keyOf({ taskType, source, sinceMs }: Pause): string {
  return `${taskType} ${source} ${sinceMs}`;
}

function fieldsOf({ taskType, source, reason, by, sinceMs, untilMs }: Pause): Record<string, unknown> {
  const seconds = Math.round((untilMs - sinceMs) / 1_000);
  return { task_type: taskType, source, reason, by, seconds, until: new Date(untilMs).toISOString() };
}
