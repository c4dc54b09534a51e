// Problems of a polling config, in words for its operator. Used by configs.ts; pure. It refuses nothing: configs may be
// created step by step, and with plain SQL.
import { notOfferedWords, type Offers } from '../../domain/gateway-interface.ts';
import { leastIntervalSeconds, type RateLimit } from '../../domain/limits/rate-limit.ts';
import {
  ConfigMatcher,
  INTERVAL_SECONDS_BOUNDS,
  type PollingConfig,
} from '../../domain/schedule/polling-config.ts';
import { TASKS, type TaskType } from '../../domain/task-type.ts';
import { isWithin, wholeNumberWithin } from '../requirements.ts';

interface ConfigSurroundings {
  readonly all: readonly PollingConfig[];
  /** Number of members of the config's ring; null if not known (yet). */
  readonly members: number | null;
  readonly rateLimits: readonly RateLimit[];
  readonly offers: Offers;
}

export function problemsOf(
  config: PollingConfig,
  { all, members, rateLimits, offers }: ConfigSurroundings,
): string[] {
  const problems: string[] = [];
  const needed = TASKS[config.taskType].interface;
  if (!offers(needed)) problems.push(notOfferedWords(needed));
  const covering = coveringConfigs(config, all);
  if (covering.length > 0) {
    problems.push(`every card it matches is polled by config ${covering.map(({ id }) => id).join(' and ')}`);
  } else if (members === 0) problems.push('no card matches it');
  const { intervalSeconds } = config;
  if (!isWithin(INTERVAL_SECONDS_BOUNDS, intervalSeconds)) {
    problems.push(`interval_seconds ${wholeNumberWithin(INTERVAL_SECONDS_BOUNDS)}`);
  }
  const frequent = tooFrequent(config.taskType, intervalSeconds, rateLimits);
  if (frequent !== null) problems.push(`interval_seconds ${frequent}`);
  if (!all.some((other) => other.taskType === config.taskType && other.status === 1)) {
    problems.push(`no enabled config polls ${config.taskType}`);
  }
  return problems;
}

/** @returns why the gateway does not allow this interval; null when it does. */
export function tooFrequent(
  taskType: TaskType,
  intervalSeconds: number,
  rateLimits: readonly RateLimit[],
): string | null {
  const { interface: interfaceName } = TASKS[taskType];
  const least = leastIntervalSeconds(rateLimits, interfaceName);
  if (intervalSeconds >= least) return null;
  return `must be at least ${least}: gateway.rate_limits allows one poll of a card by ${interfaceName} every ${least} s`;
}

/** @returns configs that win over this one and together take all its cards; none when some cards are left for it. */
function coveringConfigs(config: PollingConfig, all: readonly PollingConfig[]): PollingConfig[] {
  const winners = new ConfigMatcher(all)
    .winnersOver(config)
    .filter(({ carrierId }) => carrierId === null || carrierId === config.carrierId);
  const covering = new Set<PollingConfig>();
  for (const condition of ['not_verified', 'verified'] as const) {
    if (config.cardCondition !== 'any' && config.cardCondition !== condition) continue;
    const winner = winners.find(
      ({ cardCondition }) => cardCondition === 'any' || cardCondition === condition,
    );
    if (winner === undefined) return [];
    covering.add(winner);
  }
  return [...covering];
}
