// Leases, live instances and the progress of initialisation in this process's memory.
import type { Fleet } from '../../../domain/fleet.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  byStoreClock,
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

export function embeddedCoordination(
  clock: Clock,
  forgetBookkeeping: (instanceId: string) => void,
): Coordination {
  const leases = new Map<string, Lease>();
  const instances = new Map<string, { info: InstanceInfo; expiresMs: number }>();
  let ownFleet: Fleet | null = null;
  let progress: InitProgress = INIT_NOT_STARTED;
  let reconciliation: Reconciliation = NEVER_RECONCILED;

  async function leave(instanceId: string): Promise<void> {
    instances.delete(instanceId);
    forgetBookkeeping(instanceId);
  }

  return {
    async lead(name, holder, ttlMs) {
      const now = clock.now();
      const lease = leases.get(name);
      const live = lease !== undefined && lease.expiresMs > now;
      if (live && lease.holder !== holder) {
        lease.expiresMs = Math.min(lease.expiresMs, now + ttlMs);
        return null;
      }
      const fence = live ? lease.fence : Math.max(Math.floor(now), (lease?.fence ?? 0) + 1);
      leases.set(name, { holder, fence, expiresMs: now + ttlMs });
      return fence;
    },

    async resign(name, holder) {
      const lease = leases.get(name);
      if (lease?.holder === holder) lease.expiresMs = 0;
    },

    fleet: async () => ownFleet,

    async claimFleet(fleet) {
      ownFleet ??= fleet;
      return ownFleet;
    },

    /** Forgets only the fleet: everything else in this process belongs to the one record store that the process has opened. */
    async forgetFleet() {
      ownFleet = null;
    },

    async heartbeat(info, ttlMs) {
      const now = clock.now();
      const expiresMs = now + ttlMs;
      for (const other of instances.values()) other.expiresMs = Math.min(other.expiresMs, expiresMs);
      instances.set(info.instanceId, { info: byStoreClock(info), expiresMs });
      return now;
    },

    async instances() {
      const now = clock.now();
      return [...instances.values()]
        .filter(({ expiresMs }) => expiresMs > now)
        .map(({ info }) => info)
        .sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
    },

    leave,

    async reapInstances() {
      const now = clock.now();
      const dead = [...instances].filter(([, { expiresMs }]) => expiresMs <= now).map(([id]) => id);
      for (const id of dead) await leave(id);
      return dead.sort();
    },

    initProgress: async () => progress,

    async saveInitProgress(saved) {
      progress = saved;
    },

    reconciliation: async () => reconciliation,

    async saveReconciliation(state) {
      reconciliation = { ...state, requestedMs: reconciliation.requestedMs };
    },

    async requestReconciliation(requestedMs) {
      reconciliation = { ...reconciliation, requestedMs };
    },
  };
}
