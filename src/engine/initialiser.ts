// Keeps the rings' members in step with the cards table. Runs on the leader, one pass at a time, as a small state
// machine whose state is polling:init:progress, so that whoever leads next goes on where the last one was killed:
//
//   pending    no build yet (or the live store lost it, or one was about to begin): start generations, note total
//              and change mark -> running
//   running    one batch of cards (id order) goes into the rings, then the checkpoint, then the mandated pause;
//              after the last one generations built in the background are switched to -> completed
//   completed  only changes are followed; rings that outgrew their buckets start a new build -> running
//
// A config without a built ring, and a config that is gone (its cards belong to others now), start a new build from
// both latter states. Changes (card-sync.ts) are followed in both, in the same loop: a card read by a batch and removed
// before it was added is then removed by the very next sync.
//
// The live store does not fence what is written here, so every write is preceded by a look at the lead: a process that
// was paused in mid-pass must not undo, with what it read then, what the next leader has done since.
import { bucketsFor, MAX_AVERAGE_BUCKET_CARDS } from '../domain/phase.ts';
import type { ConfigMatcher, PollingConfig } from '../domain/polling-config.ts';
import type { Clock } from '../platform/clock.ts';
import { CardpollError } from '../platform/errors.ts';
import { type LoopErrorHandler, LoopService } from '../platform/loop.ts';
import { INIT_NOT_STARTED, type InitProgress, type LiveStore, type RingState } from '../store/live-store.ts';
import type { RecordStore } from '../store/record-store.ts';
import { CardSync } from './card-sync.ts';
import { groupByRing } from './ring-membership.ts';
import { ringOf } from './scheduler.ts';

const SYNC_EVERY_MS = 1_000;
const NOT_LEADING_REST_MS = 500;
const PAGE_CARDS = 20_000;

export interface InitialiserDeps {
  readonly live: Pick<LiveStore, 'rings' | 'coordination' | 'cards'>;
  readonly records: Pick<RecordStore, 'cards'>;
  readonly configs: () => readonly PollingConfig[];
  readonly matcher: () => ConfigMatcher;
  readonly fence: () => number | null;
  readonly clock: Clock;
  /** Cards a batch and the pause between batches (specification, section 8). */
  readonly batchCards: number;
  readonly pauseMs: number;
  readonly onProgress: (progress: InitProgress) => void;
  readonly onError: LoopErrorHandler;
}

export class Initialiser extends LoopService {
  readonly #sync: CardSync;

  constructor(private readonly deps: InitialiserDeps) {
    super('initialiser', deps.onError);
    this.#sync = new CardSync({ ...deps, requireLead: () => this.#requireLead() });
  }

  async runOnce(): Promise<number> {
    if (this.deps.fence() === null) return NOT_LEADING_REST_MS;
    const rings = await this.#rings();
    if (rings === null) return NOT_LEADING_REST_MS;
    const progress = await this.deps.live.coordination.initProgress();
    if (progress.status === 'pending') return this.#begin(rings, await this.deps.records.cards.changeMark());
    // A ring without buckets takes no cards, so it is built before a change could send one there.
    if (rings.some((ring) => ring.generation === 0)) return this.#begin(rings, progress.changeMark);
    const changeMark = await this.#follow(progress.changeMark, rings);
    if (changeMark === null) return this.#begin(rings, await this.deps.records.cards.changeMark());
    const followed = { ...progress, changeMark };
    if (progress.status === 'running') return this.#loadBatch(followed, rings);
    if (changeMark !== progress.changeMark) await this.#save(followed);
    return rings.some(isOutgrown) ? this.#begin(rings, changeMark) : SYNC_EVERY_MS;
  }

  /** The rings of today's configs. null until the scheduler has configured all. */
  async #rings(): Promise<RingState[] | null> {
    const wanted = new Set(this.deps.configs().map((config) => config.id));
    const found = await this.deps.live.rings.list();
    const gone = found.filter((ring) => !wanted.has(ring.configId));
    if (gone.length > 0) await this.#drop(gone);
    const rings = found.filter((ring) => wanted.has(ring.configId));
    return rings.length === wanted.size ? rings : null;
  }

  /** Drops the rings of configs that are gone. Their cards may belong to other configs now, so all are read again. */
  async #drop(rings: readonly RingState[]): Promise<void> {
    await this.#save(INIT_NOT_STARTED);
    for (const ring of rings) {
      this.#requireLead();
      await this.deps.live.rings.drop(ring);
    }
  }

  /** @returns the new mark; null when the database is older than the mark (restored from a copy): all must be read. */
  async #follow(mark: string, rings: readonly RingState[]): Promise<string | null> {
    try {
      return await this.#sync.follow(mark, rings);
    } catch (error) {
      if (error instanceof CardpollError && error.code === 'change_mark_ahead') return null;
      throw error;
    }
  }

  async #begin(rings: readonly RingState[], changeMark: string): Promise<number> {
    const total = await this.deps.records.cards.count();
    // Whoever is killed between here and `running` leaves a build to begin again, never one that looks complete.
    await this.#save(INIT_NOT_STARTED);
    for (const ring of rings) {
      this.#requireLead();
      // A ring in use keeps polling its old generation meanwhile; a new one is used while it fills.
      const activate = ring.generation === 0;
      await this.deps.live.rings.startGeneration(ring, bucketsFor(total), { activate });
    }
    const now = this.deps.clock.now();
    await this.#saveAndTell({
      status: 'running',
      total,
      loaded: 0,
      lastCardId: 0,
      batch: 0,
      batches: Math.ceil(total / this.deps.batchCards),
      startedAtMs: now,
      updatedAtMs: now,
      finishedAtMs: null,
      changeMark,
    });
    return 0;
  }

  async #loadBatch(progress: InitProgress, rings: readonly RingState[]): Promise<number> {
    const { batchCards, pauseMs, clock } = this.deps;
    const { count, lastCardId } = await this.#loadCards(progress.lastCardId, batchCards);
    const last = count < batchCards;
    if (last) await this.#activate(rings);
    const loaded = progress.loaded + count;
    const batch = progress.batch + (count > 0 ? 1 : 0);
    const now = clock.now();
    await this.#saveAndTell({
      ...progress,
      status: last ? 'completed' : 'running',
      // The count was taken at the start; cards added since may have made it more.
      total: last ? loaded : Math.max(progress.total, loaded),
      loaded,
      lastCardId,
      batch,
      batches: last ? batch : Math.max(progress.batches, batch + 1),
      updatedAtMs: now,
      finishedAtMs: last ? now : null,
    });
    return last ? SYNC_EVERY_MS : pauseMs;
  }

  /** Adds up to `limit` cards after `afterId` to their rings, page by page to bound the memory they take. */
  async #loadCards(afterId: number, limit: number): Promise<{ count: number; lastCardId: number }> {
    let count = 0;
    let lastCardId = afterId;
    while (count < limit) {
      const wanted = Math.min(PAGE_CARDS, limit - count);
      const cards = await this.deps.records.cards.page(lastCardId, wanted);
      for (const [config, cardIds] of groupByRing(cards, this.deps.configs(), this.deps.matcher())) {
        this.#requireLead();
        await this.deps.live.rings.add(ringOf(config), cardIds);
      }
      count += cards.length;
      lastCardId = cards.at(-1)?.cardId ?? lastCardId;
      if (cards.length < wanted) break;
    }
    return { count, lastCardId };
  }

  async #activate(rings: readonly RingState[]): Promise<void> {
    for (const ring of rings) {
      if (ring.building === null) continue;
      this.#requireLead();
      await this.deps.live.rings.activate(ring);
    }
  }

  async #saveAndTell(progress: InitProgress): Promise<void> {
    await this.#save(progress);
    this.deps.onProgress(progress);
  }

  async #save(progress: InitProgress): Promise<void> {
    this.#requireLead();
    await this.deps.live.coordination.saveInitProgress(progress);
  }

  #requireLead(): void {
    if (this.deps.fence() !== null) return;
    throw new CardpollError('busy', 'lead_lost', 'this instance lost the lead in the middle of a pass');
  }
}

function isOutgrown(ring: RingState): boolean {
  return ring.members > ring.buckets * MAX_AVERAGE_BUCKET_CARDS;
}
