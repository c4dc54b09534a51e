// The live store of a single process, for evaluation and for small fleets. Its data ends with the process, and the
// rings are built again from the record store. Opened by wiring when no Redis is configured.
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../ports/live/live-store.ts';
import { EmbeddedCardCache } from './cards/card-cache.ts';
import { EmbeddedCoordination } from './instances/coordination.ts';
import { EmbeddedRequestClaims } from './instances/request-claims.ts';
import { EmbeddedPace } from './limits/pace.ts';
import { EmbeddedRings } from './schedule/rings.ts';
import { EmbeddedHealthLog, EmbeddedHistoryLog } from './stats/history-log.ts';
import { EmbeddedPollStats } from './stats/stats.ts';
import { EmbeddedFailureLog } from './work/failure-log.ts';
import { EmbeddedManualList } from './work/manual-list.ts';
import { EmbeddedWorkQueue } from './work/work-queue.ts';

export function openEmbeddedLiveStore(options: { clock: Clock }): LiveStore {
  const { clock } = options;
  const work = new EmbeddedWorkQueue(clock);
  const stats = new EmbeddedPollStats(clock);
  const forgetBookkeeping = (instanceId: string): void => {
    work.forgetInstance(instanceId);
    stats.forgetInstance(instanceId);
  };
  return {
    kind: 'embedded',
    rings: new EmbeddedRings(clock, (taskType) => work.stateOf(taskType)),
    work,
    manual: new EmbeddedManualList((taskType) => work.stateOf(taskType)),
    stats,
    failures: new EmbeddedFailureLog(clock, (taskType) => work.stateOf(taskType).failures),
    history: new EmbeddedHistoryLog(),
    health: new EmbeddedHealthLog(clock),
    pace: new EmbeddedPace(clock),
    coordination: new EmbeddedCoordination(clock, forgetBookkeeping),
    cards: new EmbeddedCardCache(clock),
    requests: new EmbeddedRequestClaims(clock),
    async ping() {},
    now: async () => clock.now(),
    // Constant, because the data ends with this process and is built again in the next one.
    identity: async () => 'embedded',
    missingRights: async () => ({ user: '', needed: [], useful: [] }),
    servers: async () => [],
    async close() {},
  };
}
