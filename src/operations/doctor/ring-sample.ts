// Checks that cards are in the rings that poll them. It checks a new random sample each time, so that ten million cards take
// as long as a thousand. Used by fleet.ts. The leader compares all cards (docs/decisions/0012-reconciliation.md).

import type { CardMembership } from '../../domain/cards/card.ts';
import { type Finding, failed, ok, skipped } from '../../domain/finding.ts';
import { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { TASK_TYPES } from '../../domain/task-type.ts';
import type { InitProgress } from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { countWords } from '../span-words.ts';

const CHECK = 'cards in rings';
const PLACES = 20;
const CARDS_A_PLACE = 50;

/**
 * @param isLed whether an instance leads; the leader adds cards to their rings
 * @param random uniform in [0, 1)
 * @param settle waits as long as a changed card needs to reach its rings
 */
export async function ringSampleFindings(
  {
    live,
    records,
    isLed,
  }: { readonly live: LiveStore; readonly records: RecordStore; readonly isLed: boolean },
  progress: InitProgress,
  random: () => number,
  settle: () => Promise<void>,
): Promise<Finding[]> {
  if (progress.status !== 'completed') return [skipped(CHECK, 'the initialisation is not completed')];
  const cards = await sample(records, random);
  let { places, missing } = await lookUp(live, records, cards);
  if (missing.size > 0) {
    await settle();
    ({ missing } = await lookUp(live, records, await sampleAgain(records, missing)));
  }
  if (missing.size === 0)
    return [ok(CHECK, `${countWords(cards.length, 'card')} checked, all in their rings`)];
  const detail = `${countWords(missing.size, 'card')} of ${cards.length} checked (${places} memberships) are missing from the rings that poll them`;
  const remedy = isLed
    ? { hint: 'compare all cards with the rings', command: 'cardpoll init rebuild --yes' }
    : { hint: 'no instance leads; the next leader adds them', command: 'cardpoll stats instances' };
  return [failed(CHECK, detail, remedy)];
}

/** @returns how many memberships the cards should have, and the cards that lack one. */
async function lookUp(live: LiveStore, records: RecordStore, cards: readonly CardMembership[]) {
  const [configs, rings] = await Promise.all([records.configs.list(), live.rings.list()]);
  const matcher = new ConfigMatcher(configs);
  const wanted = new Map<RingState, number[]>();
  const missing = new Set<number>();
  let places = 0;
  for (const card of cards) {
    for (const taskType of TASK_TYPES) {
      const config = matcher.match(taskType, card);
      if (config === null) continue;
      places += 1;
      const ring = rings.find((one) => one.configId === config.id && one.taskType === taskType);
      if (ring === undefined || ring.generation === 0) missing.add(card.cardId);
      else wanted.set(ring, [...(wanted.get(ring) ?? []), card.cardId]);
    }
  }
  for (const [ring, ids] of wanted) {
    const members = await live.rings.contains(ring, ids);
    for (const [i, cardId] of ids.entries()) if (members[i] !== true) missing.add(cardId);
  }
  return { places, missing };
}

async function sample(records: RecordStore, random: () => number): Promise<CardMembership[]> {
  const last = await records.cards.lastId();
  const starts = [0, ...Array.from({ length: PLACES - 1 }, () => Math.floor(random() * last))];
  const pages = await Promise.all(starts.map((after) => records.cards.page(after, CARDS_A_PLACE)));
  return [...new Map(pages.flat().map((card) => [card.cardId, card])).values()];
}

/** Reads the cards again: some may be deleted by now. */
async function sampleAgain(records: RecordStore, cardIds: ReadonlySet<number>): Promise<CardMembership[]> {
  return records.cards.byIds([...cardIds]);
}
