// The live store of a single process, for evaluation and for small fleets. Its data ends with the process; the rings are rebuilt
// from the record store. Opened by wiring when no Redis is configured.
import { perTaskType } from '../../domain/task-type.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import type { LiveStore } from '../ports/live/live-store.ts';
import type { Pace } from '../ports/live/pace.ts';
import { embeddedCardCache } from './cards/card-cache.ts';
import { embeddedCoordination } from './instances/coordination.ts';
import { embeddedRings } from './schedule/rings.ts';
import { embeddedHealthLog, embeddedHistoryLog, embeddedPollStats } from './stats/stats.ts';
import { embeddedFailureLog } from './work/failure-log.ts';
import { embeddedManualList, embeddedWorkQueue } from './work/work-queue.ts';
import { WorkState } from './work/work-state.ts';

/** Never used: the configuration refuses rate limits with the embedded stores (config/rules.ts). */
const NO_PACE: Pace = {
  take: async () => {
    throw new CardpollError('config', 'rate_limits_need_redis', 'rate limits need Redis');
  },
  giveBack: async () => {},
  states: async () => [],
};

export function openEmbeddedLiveStore(options: { clock: Clock }): LiveStore {
  const { clock } = options;
  const types = perTaskType(() => new WorkState());
  const stats = embeddedPollStats(clock);
  const forgetBookkeeping = (instanceId: string): void => {
    for (const type of Object.values(types)) type.lastClaims.delete(instanceId);
    stats.forgetInstance(instanceId);
  };
  return {
    kind: 'embedded',
    rings: embeddedRings(clock, types),
    work: embeddedWorkQueue(clock, types),
    manual: embeddedManualList(types),
    stats,
    failures: embeddedFailureLog(clock, types),
    history: embeddedHistoryLog(),
    health: embeddedHealthLog(clock),
    pace: NO_PACE,
    coordination: embeddedCoordination(clock, forgetBookkeeping),
    cards: embeddedCardCache(clock),
    async ping() {},
    now: async () => clock.now(),
    // Constant, because the data ends with this process and the next one rebuilds it.
    identity: async () => 'embedded',
    missingRights: async () => ({ user: '', needed: [], useful: [] }),
    servers: async () => [],
    async close() {},
  };
}
