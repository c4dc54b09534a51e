// What a fleet that polls leaves in a live store: instances, rings, queues, failures. For a store whose clock moves only
// when the test says so.
import type { TaskType } from '../../src/domain/task-type.ts';
import type { InstanceInfo } from '../../src/store/ports/live/coordination.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { RingId } from '../../src/store/ports/live/rings.ts';
import type { WorkItem } from '../../src/store/ports/live/work-queue.ts';
import type { FakeClock } from './fake-clock.ts';

const LEASE_MS = 600_000;
const WHOLE_RING = { maxBuckets: 1_024, queueCap: 1e6, fence: 1 };

/** An instance that does everything and has done nothing yet, unless told otherwise. */
export function instanceOf(instanceId: string, over: Partial<InstanceInfo> = {}): InstanceInfo {
  return {
    instanceId,
    hostname: 'host-1',
    pid: 1,
    version: '1.2.3',
    roles: ['worker', 'scheduler', 'api'],
    probeAddress: null,
    startedAtMs: 0,
    heartbeatAtMs: 0,
    inFlight: 0,
    cacheHits: 0,
    cacheMisses: 0,
    breakers: [],
    databaseOutage: null,
    reloadFailure: null,
    logTrouble: null,
    outsideHeartbeat: null,
    timeZone: 'Asia/Shanghai',
    stopMode: 'enforce',
    clockAheadMs: null,
    ...over,
  };
}

export class PolledFleet {
  #claims = 0;

  constructor(
    private readonly live: LiveStore,
    private readonly clock: FakeClock,
  ) {}

  /** Alive for as long as a test lasts. */
  async alive(...instances: readonly InstanceInfo[]): Promise<void> {
    for (const instance of instances) await this.live.coordination.heartbeat(instance, 86_400_000);
  }

  /** A ring with these cards that runs from now on. */
  async load(ring: RingId, cardIds: readonly number[], intervalMs: number): Promise<void> {
    await this.live.rings.configure(ring, { intervalMs, enabled: true });
    await this.live.rings.startGeneration(ring, 1_024);
    await this.live.rings.add(ring, cardIds);
  }

  /** Queues the cards by a ring that is gone again afterwards. Takes a second. */
  async queue(taskType: TaskType, cardIds: readonly number[]): Promise<void> {
    const ring = { configId: 999, taskType };
    await this.load(ring, cardIds, 1_000);
    this.clock.advance(1_000);
    await this.live.rings.advance(ring, WHOLE_RING);
    await this.live.rings.drop(ring);
  }

  async claim(taskType: TaskType, max: number): Promise<readonly WorkItem[]> {
    this.#claims += 1;
    const request = { instanceId: 'worker-1', claimNumber: this.#claims, max, leaseMs: LEASE_MS };
    return (await this.live.work.claim(taskType, request)).items;
  }

  /** Scheduled polls of these cards that failed. @param capMs 0: not tried again before their ring asks for them */
  async fail(taskType: TaskType, cardIds: readonly number[], { baseMs = 1, capMs = 0 } = {}): Promise<void> {
    await this.queue(taskType, cardIds);
    const items = await this.claim(taskType, cardIds.length);
    const settlements = items.map((item) => ({ item, verdict: 'failed' as const, random: 0.5 }));
    await this.live.work.settle(taskType, settlements, { baseMs, capMs });
  }
}
