// The place of one card in the schedule of each task type: the config and the ring that poll it, its place in the queue, and when
// it is due. Found with a fixed number of look-ups by key, for any number of cards. Used by cards.ts and explain/explainer.ts.
import type { CardMembership } from '../../domain/cards/card.ts';
import { nextDueAt } from '../../domain/schedule/phase.ts';
import { ConfigMatcher, type PollingConfig } from '../../domain/schedule/polling-config.ts';
import { askPerTaskType, type TaskType } from '../../domain/task-type.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { CardPlace } from '../../store/ports/live/work-queue.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

export interface CardSchedule {
  /** All configs of the task type, in the order in which they win. */
  readonly configs: readonly PollingConfig[];
  /** The config that polls the card; null: none matches it. */
  readonly taking: PollingConfig | null;
  /** All rings of the task type. */
  readonly rings: readonly RingState[];
  /** Whether the ring of `taking` contains the card. */
  readonly member: boolean;
  readonly place: CardPlace;
}

/** @param entriesOf the card's entries of the manual list, which take longer to find; default: they are not searched. */
export async function readCardSchedules(
  { live, records }: { readonly live: LiveStore; readonly records: Pick<RecordStore, 'configs'> },
  card: CardMembership,
  entriesOf: (taskType: TaskType) => readonly string[] = () => [],
): Promise<Record<TaskType, CardSchedule>> {
  const [allConfigs, allRings] = await Promise.all([records.configs.list(), live.rings.list()]);
  const matcher = new ConfigMatcher(allConfigs);
  return askPerTaskType(async (taskType) => {
    const configs = allConfigs.filter((config) => config.taskType === taskType);
    const taking = matcher.match(taskType, card);
    const rings = allRings.filter((ring) => ring.taskType === taskType);
    const ring = ringOf({ rings, taking });
    const [place, [member = false]] = await Promise.all([
      live.work.place(taskType, card.cardId, entriesOf(taskType)),
      ring === null ? [] : live.rings.contains(ring, [card.cardId]),
    ]);
    return { configs, taking, rings, member, place };
  });
}

/** The ring that polls the card; null before it was built. */
export function ringOf({ rings, taking }: Pick<CardSchedule, 'rings' | 'taking'>): RingState | null {
  return rings.find(({ configId, generation }) => configId === taking?.id && generation > 0) ?? null;
}

/**
 * When the card was or is due, epoch milliseconds. A card in the queue or the retry lane is polled even if its config was
 * removed; otherwise its ring decides.
 */
export function dueMsOf(schedule: CardSchedule, cardId: number): number | null {
  const { place, taking, member } = schedule;
  if (place.queued !== null) return place.queued.dueAtMs;
  if (place.retry !== null) return place.retry.atMs;
  const ring = ringOf(schedule);
  return taking?.status === 1 && ring?.enabled === true && member ? nextDueAt(ring, cardId) : null;
}
