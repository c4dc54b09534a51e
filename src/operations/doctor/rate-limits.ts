// The check of the rate limits: can the polling configs be met with them? Used by fleet.ts, also before the first start, so it
// reads the records only.
import { type Finding, ok, warning } from '../../domain/finding.ts';
import type { Offers } from '../../domain/gateway-interface.ts';
import { callLimitsOf, type RateLimit, rateLimitWords } from '../../domain/limits/rate-limit.ts';
import type { PollingConfig } from '../../domain/schedule/polling-config.ts';
import { perTaskType, TASK_TYPES, TASKS } from '../../domain/task-type.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { paceShareOf, paceShortWords } from '../limits/pace-share.ts';
import { tooFrequent } from '../schedule/config-problems.ts';

const CHECK = 'rate limits';

/** @returns no finding without a limit. */
export async function rateLimitFindings(
  records: Pick<RecordStore, 'configs' | 'cards'>,
  limits: readonly RateLimit[],
  offers: Offers,
): Promise<Finding[]> {
  if (limits.length === 0) return [];
  const [configs, cards] = await Promise.all([records.configs.list(), records.cards.estimate()]);
  const enabled = configs.filter(({ taskType, status }) => status === 1 && offers(TASKS[taskType].interface));
  const findings = [...frequentFindings(enabled, limits), ...shortFindings(enabled, cards, limits)];
  return findings.length > 0 ? findings : [ok(CHECK, limits.map(rateLimitWords).join('; '))];
}

function frequentFindings(configs: readonly PollingConfig[], limits: readonly RateLimit[]): Finding[] {
  return configs.flatMap(({ id, taskType, intervalSeconds }) => {
    const problem = tooFrequent(taskType, intervalSeconds, limits);
    if (problem === null) return [];
    const command = `cardpoll configs set ${id} --interval-seconds SECONDS`;
    return warning(CHECK, `config ${id}: interval_seconds is ${intervalSeconds}, and ${problem}`, {
      command,
    });
  });
}

/** As if each type polled all cards at its longest interval: the least that is needed, whatever each config selects. */
function shortFindings(
  configs: readonly PollingConfig[],
  cards: number,
  limits: readonly RateLimit[],
): Finding[] {
  const intervals = perTaskType((taskType) => {
    const own = configs.filter((config) => config.taskType === taskType);
    return Math.max(0, ...own.map(({ intervalSeconds }) => intervalSeconds));
  });
  const demand = perTaskType((taskType) => (intervals[taskType] === 0 ? 0 : cards / intervals[taskType]));
  return TASK_TYPES.flatMap((taskType) => {
    const share = paceShareOf(taskType, callLimitsOf(limits), demand);
    if (share === null || demand[taskType] <= share.perSecond) return [];
    const words = paceShortWords(share, demand[taskType], intervals[taskType]);
    return warning(CHECK, `${taskType}: ${words}`, {
      hint: 'poll less often, or ask the owner of the gateway for more calls',
      command: 'cardpoll configs',
    });
  });
}
