// Fills a ring as the initialiser does: in batches of 100,000 consecutive ids. Used by the engine and memory benches.
import { MIN_BUCKETS } from '../../src/domain/schedule/phase.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { RingId } from '../../src/store/ports/live/rings.ts';

const BATCH = 100_000;

export async function fillRing(
  store: LiveStore,
  ring: RingId,
  cards: number,
  intervalMs: number,
): Promise<void> {
  await store.rings.configure(ring, { intervalMs, enabled: true });
  await store.rings.startGeneration(ring, MIN_BUCKETS);
  for (let from = 1; from <= cards; from += BATCH) {
    const count = Math.min(BATCH, cards - from + 1);
    await store.rings.add(
      ring,
      Array.from({ length: count }, (_, i) => from + i),
    );
  }
}
