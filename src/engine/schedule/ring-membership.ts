// Groups cards by the rings they belong to, for every task type. Used by card-sync.ts and ring-loader.ts.
import type { CardMembership } from '../../domain/cards/card.ts';
import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';

/** @returns card ids by the config that polls them; every config has an entry, even without cards. */
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
