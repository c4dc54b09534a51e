// Leases, live workers and the progress of initialisation in this process's memory.
import type { Clock } from '../../platform/clock.ts';
import {
  type Coordination,
  INIT_NOT_STARTED,
  type InitProgress,
  NEVER_RECONCILED,
  type Reconciliation,
  type WorkerInfo,
} from '../ports/coordination.ts';

interface Lease {
  holder: string;
  fence: number;
  expiresMs: number;
}

export class EmbeddedCoordination implements Coordination {
  readonly #leases = new Map<string, Lease>();
  readonly #workers = new Map<string, { info: WorkerInfo; expiresMs: number }>();
  #progress = INIT_NOT_STARTED;
  #reconciliation = NEVER_RECONCILED;

  constructor(
    private readonly clock: Clock,
    private readonly forgetBookkeeping: (workerId: string) => void,
  ) {}

  async lead(name: string, holder: string, ttlMs: number): Promise<number | null> {
    const now = this.clock.now();
    const lease = this.#leases.get(name);
    const live = lease !== undefined && lease.expiresMs > now;
    if (live && lease.holder !== holder) return null;
    const fence = live ? lease.fence : Math.max(Math.floor(now), (lease?.fence ?? 0) + 1);
    this.#leases.set(name, { holder, fence, expiresMs: now + ttlMs });
    return fence;
  }

  async resign(name: string, holder: string): Promise<void> {
    const lease = this.#leases.get(name);
    if (lease?.holder === holder) lease.expiresMs = 0;
  }

  async heartbeat(worker: WorkerInfo, ttlMs: number): Promise<void> {
    this.#workers.set(worker.workerId, { info: worker, expiresMs: this.clock.now() + ttlMs });
  }

  async workers(): Promise<WorkerInfo[]> {
    const now = this.clock.now();
    return [...this.#workers.values()]
      .filter((worker) => worker.expiresMs > now)
      .map((worker) => worker.info)
      .sort((a, b) => (a.workerId < b.workerId ? -1 : 1));
  }

  async leave(workerId: string): Promise<void> {
    this.#workers.delete(workerId);
    this.forgetBookkeeping(workerId);
  }

  async reapWorkers(): Promise<string[]> {
    const now = this.clock.now();
    const dead = [...this.#workers].filter(([, worker]) => worker.expiresMs <= now).map(([id]) => id);
    for (const id of dead) await this.leave(id);
    return dead.sort();
  }

  async initProgress(): Promise<InitProgress> {
    return this.#progress;
  }

  async saveInitProgress(progress: InitProgress): Promise<void> {
    this.#progress = progress;
  }

  async reconciliation(): Promise<Reconciliation> {
    return this.#reconciliation;
  }

  async saveReconciliation(state: Reconciliation): Promise<void> {
    this.#reconciliation = { ...state, requestedMs: this.#reconciliation.requestedMs };
  }

  async requestReconciliation(atMs: number): Promise<void> {
    this.#reconciliation = { ...this.#reconciliation, requestedMs: atMs };
  }
}
