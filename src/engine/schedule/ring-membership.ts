// Which cards go into which rings: the matcher's answer for every task type, grouped by config.
import type { CardMembership } from '../../domain/cards/card.ts';
import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';

/** Card ids by the config that polls them, one entry for every config (also for those without cards here). */
export function groupByRing(
  cards: readonly CardMembership[],
  configs: readonly PollingConfig[],
  matcher: ConfigMatcher,
): Map<PollingConfig, number[]> {
  const groups = new Map<PollingConfig, number[]>(configs.map((config) => [config, []]));
  for (const card of cards) {
    for (const taskType of TASK_TYPES) {
      const config = matcher.match(taskType, card);
      if (config !== null) groups.get(config)?.push(card.cardId);
    }
  }
  return groups;
}
