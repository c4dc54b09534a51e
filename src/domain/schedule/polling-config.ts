// Polling configs and the one rule that decides which config polls a card.
import type { CardMembership } from '../cards/card.ts';
import { groupBy } from '../group-by.ts';
import type { TaskType } from '../task-type.ts';

export const CARD_CONDITIONS = ['not_verified', 'verified', 'any'] as const;
type CardCondition = (typeof CARD_CONDITIONS)[number];

/** One second to thirty days. */
export const INTERVAL_SECONDS_BOUNDS = { min: 1, max: 2_592_000 } as const;

export const PRIORITY_BOUNDS = { min: -1_000_000, max: 1_000_000 } as const;

export interface PollingConfig {
  readonly id: number;
  readonly name: string;
  readonly taskType: TaskType;
  readonly cardCondition: CardCondition;
  /** null: every carrier. */
  readonly carrierId: number | null;
  readonly intervalSeconds: number;
  /** When several configs match a card, the highest priority polls it; ties go to the lower id. */
  readonly priority: number;
  /** 1 enabled, 0 disabled (operations interface, section 2.1). */
  readonly status: 0 | 1;
}

/** The attribute of a config that keeps it from matching a card; null: it matches. */
export function misfitOf(config: PollingConfig, card: CardMembership): 'carrier' | 'condition' | null {
  if (config.carrierId !== null && config.carrierId !== card.carrierId) return 'carrier';
  if (config.cardCondition === 'any') return null;
  return (config.cardCondition === 'verified') === card.realNameVerified ? null : 'condition';
}

/** True when some card could match both. */
function overlap(a: PollingConfig, b: PollingConfig): boolean {
  const carriers = a.carrierId === null || b.carrierId === null || a.carrierId === b.carrierId;
  const conditions =
    a.cardCondition === 'any' || b.cardCondition === 'any' || a.cardCondition === b.cardCondition;
  return carriers && conditions;
}

function wordsOf({ cardCondition, carrierId }: PollingConfig): string {
  return `${cardCondition}/${carrierId ?? '*'}`;
}

/**
 * Answers "which config polls this card for this task type?" for one set of configs.
 * A disabled config keeps its cards: they are not polled, rather than polled by the next best config.
 */
export class ConfigMatcher {
  readonly #byType: ReadonlyMap<TaskType, readonly PollingConfig[]>;
  /** Cached answers of match: by task type, carrier (all unnamed carriers count as one) and verification. */
  readonly #found = new Map<string, PollingConfig | null>();
  readonly #carriers: ReadonlySet<number | null>;

  constructor(readonly configs: readonly PollingConfig[]) {
    const ordered = [...configs].sort((a, b) => b.priority - a.priority || a.id - b.id);
    this.#byType = groupBy(ordered, ({ taskType }) => taskType);
    this.#carriers = new Set(configs.map(({ carrierId }) => carrierId));
  }

  /**
   * The cards that a config polls, as text: those that it matches, without those that configs of higher rank take. Configs with
   * equal text poll the same cards; a ring that was built for another text must be rebuilt.
   */
  selectionOf(config: PollingConfig): string {
    const winners = this.winnersOver(config).map(wordsOf);
    const except = [...new Set(winners)].sort();
    return [wordsOf(config), ...(except.length === 0 ? [] : ['except', ...except])].join(' ');
  }

  /** The configs of higher rank that take cards which this one also matches, by rank. */
  winnersOver(config: PollingConfig): readonly PollingConfig[] {
    const list = this.#byType.get(config.taskType) ?? [];
    const rank = list.findIndex(({ id }) => id === config.id);
    return list.slice(0, rank).filter((other) => overlap(other, config));
  }

  match(taskType: TaskType, card: CardMembership): PollingConfig | null {
    const carrier = this.#carriers.has(card.carrierId) ? card.carrierId : '*';
    const key = `${taskType}:${carrier}:${card.realNameVerified}`;
    let found = this.#found.get(key);
    if (found === undefined) {
      found = this.#byType.get(taskType)?.find((config) => misfitOf(config, card) === null) ?? null;
      this.#found.set(key, found);
    }
    return found;
  }

  /** Whether this config polls the card; undefined: no such card. */
  polls(config: PollingConfig, card: CardMembership | undefined): boolean {
    return card !== undefined && this.match(config.taskType, card)?.id === config.id;
  }
}
