// Leases, live instances and the progress of initialisation in this process's memory.
import type { Fleet } from '../../../domain/fleet.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type Coordination,
  INIT_NOT_STARTED,
  type InitProgress,
  type InstanceInfo,
  NEVER_RECONCILED,
  type Reconciliation,
} from '../../ports/live/coordination.ts';

interface Lease {
  holder: string;
  fence: number;
  expiresMs: number;
}

export class EmbeddedCoordination implements Coordination {
  readonly #leases = new Map<string, Lease>();
  readonly #instances = new Map<string, { info: InstanceInfo; expiresMs: number }>();
  #fleet: Fleet | null = null;
  #progress = INIT_NOT_STARTED;
  #reconciliation = NEVER_RECONCILED;

  constructor(
    private readonly clock: Clock,
    private readonly forgetBookkeeping: (instanceId: string) => void,
  ) {}

  async lead(name: string, holder: string, ttlMs: number): Promise<number | null> {
    const now = this.clock.now();
    const lease = this.#leases.get(name);
    const live = lease !== undefined && lease.expiresMs > now;
    if (live && lease.holder !== holder) {
      lease.expiresMs = Math.min(lease.expiresMs, now + ttlMs);
      return null;
    }
    const fence = live ? lease.fence : Math.max(Math.floor(now), (lease?.fence ?? 0) + 1);
    this.#leases.set(name, { holder, fence, expiresMs: now + ttlMs });
    return fence;
  }

  async resign(name: string, holder: string): Promise<void> {
    const lease = this.#leases.get(name);
    if (lease?.holder === holder) lease.expiresMs = 0;
  }

  async fleet(): Promise<Fleet | null> {
    return this.#fleet;
  }

  async claimFleet(fleet: Fleet): Promise<Fleet> {
    this.#fleet ??= fleet;
    return this.#fleet;
  }

  /** Forgets only the fleet: everything else in this process belongs to the one record store that it has opened. */
  async forgetFleet(): Promise<void> {
    this.#fleet = null;
  }

  async heartbeat(instance: InstanceInfo, ttlMs: number): Promise<void> {
    this.#instances.set(instance.instanceId, { info: instance, expiresMs: this.clock.now() + ttlMs });
  }

  async instances(): Promise<InstanceInfo[]> {
    const now = this.clock.now();
    return [...this.#instances.values()]
      .filter((instance) => instance.expiresMs > now)
      .map((instance) => instance.info)
      .sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
  }

  async leave(instanceId: string): Promise<void> {
    this.#instances.delete(instanceId);
    this.forgetBookkeeping(instanceId);
  }

  async reapInstances(): Promise<string[]> {
    const now = this.clock.now();
    const dead = [...this.#instances].filter(([, instance]) => instance.expiresMs <= now).map(([id]) => id);
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
