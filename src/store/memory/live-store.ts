// The live store of a single process, for evaluation and for small fleets. Its data ends with the process, and the
// rings are built again from the record store. Opened by wiring when no Redis is configured.
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../ports/live/live-store.ts';
import { embeddedCardCache } from './cards/card-cache.ts';
import { embeddedCoordination, embeddedRequestClaims } from './instances/coordination.ts';
import { embeddedPace } from './limits/pace.ts';
import { embeddedRings } from './schedule/rings.ts';
import { embeddedHealthLog, embeddedHistoryLog, embeddedPollStats } from './stats/stats.ts';
import { embeddedFailureLog } from './work/failure-log.ts';
import { embeddedManualList, embeddedWorkQueue } from './work/work-queue.ts';

export function openEmbeddedLiveStore(options: { clock: Clock }): LiveStore {
  const { clock } = options;
  const work = embeddedWorkQueue(clock);
  const stats = embeddedPollStats(clock);
  const forgetBookkeeping = (instanceId: string): void => {
    work.forgetInstance(instanceId);
    stats.forgetInstance(instanceId);
  };
  return {
    kind: 'embedded',
    rings: embeddedRings(clock, (taskType) => work.stateOf(taskType)),
    work,
    manual: embeddedManualList((taskType) => work.stateOf(taskType)),
    stats,
    failures: embeddedFailureLog(clock, (taskType) => work.stateOf(taskType).failures),
    history: embeddedHistoryLog(),
    health: embeddedHealthLog(clock),
    pace: embeddedPace(clock),
    coordination: embeddedCoordination(clock, forgetBookkeeping),
    cards: embeddedCardCache(clock),
    requests: embeddedRequestClaims(clock),
    async ping() {},
    now: async () => clock.now(),
    // Constant, because the data ends with this process and is built again in the next one.
    identity: async () => 'embedded',
    missingRights: async () => ({ user: '', needed: [], useful: [] }),
    servers: async () => [],
    async close() {},
  };
}
