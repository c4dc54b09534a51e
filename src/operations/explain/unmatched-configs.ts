// Explains why the other polling configs of a task type do not poll a card. Used by task-explanation.ts. Pure.
import type { CardMembership } from '../../domain/cards/card.ts';
import { misfitOf, type PollingConfig } from '../../domain/schedule/polling-config.ts';
import type { TaskExplanation } from './explain.ts';

/** @param taking the config that polls the card; null: none matches it */
export function otherConfigsOf(
  configs: readonly PollingConfig[],
  taking: PollingConfig | null,
  card: CardMembership,
): TaskExplanation['otherConfigs'] {
  return configs
    .filter(({ id }) => id !== taking?.id)
    .map((config) => ({ id: config.id, name: config.name, reason: reasonOf(config, taking, card) }));
}

function reasonOf(config: PollingConfig, taking: PollingConfig | null, card: CardMembership): string {
  switch (misfitOf(config, card)) {
    case 'carrier':
      return `is for carrier ${config.carrierId}, the card is of carrier ${card.carrierId}`;
    case 'condition':
      return `is for ${config.cardCondition === 'verified' ? 'verified cards' : 'cards not verified'}, the card is ${
        card.realNameVerified ? 'verified' : 'not verified'
      }`;
    case null:
      return taking !== null && taking.priority > config.priority
        ? `has priority ${config.priority}, less than ${taking.priority}`
        : `has the same priority ${config.priority}, and the config with the lower id wins`;
  }
}
