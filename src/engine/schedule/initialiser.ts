// Keeps the rings' members in step with the cards table. Runs on the leader, one pass at a time, as a small state
// machine whose state is polling:init:progress, so that whoever leads next goes on where the last one was killed:
//
//   pending    no build yet, or the live store lost how far it was: note the change mark -> running
//   running    one batch of cards (id order) goes into the rings that are being built, then the checkpoint, then the
//              mandated pause; after the last one generations built in the background are switched to -> completed.
//              Without such rings a fast pass of reconciliation (reconciler.ts) runs, in batches and pauses alike.
//   completed  changes are followed, buckets split and merged, and reconciliation compares slowly on and on
//
// Which rings must be built the rings tell themselves: one that was never built, is not loaded yet, or was built for
// another selection of cards (domain/schedule/polling-config.ts) than its config has now, however the config was changed. A ring
// in use keeps polling its old generation until the new one is loaded. Changes (card-sync.ts) are followed in every
// state, in the same loop: a card read by a batch and removed before it was added is removed by the very next sync.
//
// The live store does not fence what is written here, so every write is preceded by a look at the lead: a process that
// was paused in mid-pass must not undo, with what it read then, what the next leader has done since. A pass ends with
// the lead it began under, also where this instance leads anew by then: its configs are those of before.
import { MIN_BUCKETS } from '../../domain/schedule/phase.ts';
import type { ConfigMatcher, PollingConfig } from '../../domain/schedule/polling-config.ts';
import type { Clock } from '../../platform/clock.ts';
import { CardpollError } from '../../platform/errors.ts';
import { type LoopErrorHandler, LoopService } from '../../platform/loop.ts';
import type {
  InitProgress,
  Reconciliation,
  ReconciliationReason,
} from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RingState } from '../../store/ports/live/rings.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { CardSync } from './card-sync.ts';
import { Reconciler, type Suspicion } from './reconciler.ts';
import { RingLoader } from './ring-loader.ts';
import type { Repairs, RingView } from './ring-repair.ts';
import { ringKey, ringOf } from './scheduler.ts';

const SYNC_EVERY_MS = 1_000;
const NOT_LEADING_REST_MS = 500;
/** Splits or merges of one ring: some milliseconds of the live store's time, and 50,000 cards' worth of buckets. */
const RESIZE_STEPS_A_PASS = 512;

export interface InitialiserDeps {
  readonly live: Pick<LiveStore, 'rings' | 'coordination' | 'cards' | 'work' | 'identity'>;
  readonly records: Pick<RecordStore, 'cards' | 'identity' | 'stops'>;
  readonly configs: () => readonly PollingConfig[];
  readonly matcher: () => ConfigMatcher;
  readonly fence: () => number | null;
  readonly clock: Clock;
  /** Cards a batch and the pause between batches (operations interface, section 8). */
  readonly initBatch: number;
  readonly initPauseMs: number;
  /** Queue length at which changed cards that are over their package are no longer added. */
  readonly queueCap: number;
  readonly onProgress: (progress: InitProgress) => void;
  /** All rings are compared with the cards from now on, as fast as they are initialised. */
  readonly onReconcile: (reason: ReconciliationReason) => void;
  readonly onRepair: (repairs: Repairs) => void;
  readonly onError: LoopErrorHandler;
}

export class Initialiser extends LoopService {
  readonly #sync: CardSync;
  readonly #loader: RingLoader;
  readonly #reconciler: Reconciler;
  /** Of the lead under which the present pass began. */
  #fence: number | null = null;

  constructor(private readonly deps: InitialiserDeps) {
    super('initialiser', deps);
    const requireLead = () => this.#requireLead();
    this.#sync = new CardSync({ ...deps, requireLead });
    this.#loader = new RingLoader({ ...deps, requireLead });
    this.#reconciler = new Reconciler({ ...deps, requireLead, onBegin: deps.onReconcile });
  }

  async runOnce(): Promise<number> {
    this.#fence = this.deps.fence();
    if (this.#fence === null) return NOT_LEADING_REST_MS;
    const view = { configs: this.deps.configs(), matcher: this.deps.matcher() };
    const rings = await this.#rings(view);
    if (rings === null) return NOT_LEADING_REST_MS;
    const stored = await this.deps.live.coordination.initProgress();
    const { progress, reconciliation } = await this.#notice(stored, rings);
    // A ring without buckets takes no cards, so it is built before a change could send one there.
    const outdated = rings.filter((ring) => !isBuiltFor(ring, view));
    const loading = rings.some((ring) => ring.building !== null || !ring.loaded);
    if (outdated.length > 0 || (loading && progress.status !== 'running')) {
      return this.#begin(outdated, view, progress.changeMark);
    }
    if (loading) {
      const { mark } = await this.#follow(progress, rings);
      return this.#loadBatch({ ...progress, changeMark: mark }, rings, view);
    }
    return this.#compare(progress, reconciliation, rings, view);
  }

  /** The rings of today's configs. null until the scheduler has configured all. */
  async #rings(view: RingView): Promise<RingState[] | null> {
    const wanted = new Set(view.configs.map((config) => ringKey(ringOf(config))));
    const found = await this.deps.live.rings.list();
    for (const ring of found) {
      if (wanted.has(ringKey(ring))) continue;
      // Its cards may belong to other configs now: their selections tell that.
      this.#requireLead();
      await this.deps.live.rings.drop(ring);
    }
    const rings = found.filter((ring) => wanted.has(ringKey(ring)));
    return rings.length === wanted.size ? rings : null;
  }

  /** Begins a fast comparison where there is reason to, and a new change mark where the old one is of no use. */
  async #notice(
    progress: InitProgress,
    rings: readonly RingState[],
  ): Promise<{ readonly progress: InitProgress; readonly reconciliation: Reconciliation }> {
    const { state, reason } = await this.#reconciler.reasonToBegin(await this.#reconciler.read());
    if (progress.status === 'pending') {
      const isLost = rings.some((ring) => ring.loaded);
      const reconciliation = isLost ? await this.#reconciler.begin(state, 'progress_lost') : state;
      const changeMark = await this.deps.records.cards.changeMark();
      return { progress: { ...progress, changeMark }, reconciliation };
    }
    if (reason === null) return { progress, reconciliation: state };
    if (reason === 'record_store_replaced') return this.#beginWithNewMark(progress, state);
    return { progress, reconciliation: await this.#reconciler.begin(state, reason) };
  }

  /** The mark is saved first: whoever is killed in between leaves the reason standing. */
  async #beginWithNewMark(progress: InitProgress, state: Reconciliation) {
    const marked = { ...progress, changeMark: await this.deps.records.cards.changeMark() };
    await this.#save(marked);
    return { progress: marked, reconciliation: await this.#reconciler.begin(state, 'record_store_replaced') };
  }

  /** Applies what changed since the mark. A database older than the mark was restored from a copy: all is compared. */
  async #follow(
    progress: InitProgress,
    rings: readonly RingState[],
  ): Promise<{ readonly mark: string; readonly caughtUp: boolean }> {
    try {
      return await this.#sync.follow(progress.changeMark, rings);
    } catch (error) {
      if (!(error instanceof CardpollError && error.code === 'change_mark_ahead')) throw error;
      const begun = await this.#beginWithNewMark(progress, await this.#reconciler.read());
      return { mark: begun.progress.changeMark, caughtUp: false };
    }
  }

  /**
   * Begins to load rings, those that are `outdated` from new generations. What is saved first names no card as loaded,
   * so that whoever is killed in between leaves a build to begin again, never one that looks further than it is.
   */
  async #begin(outdated: readonly RingState[], view: RingView, changeMark: string): Promise<number> {
    const total = await this.deps.records.cards.estimate();
    const now = this.deps.clock.now();
    await this.#saveAndTell({
      status: 'running',
      reason: 'build',
      total,
      loaded: 0,
      lastCardId: 0,
      batch: 0,
      batches: Math.ceil(total / this.deps.initBatch),
      startedAtMs: now,
      updatedAtMs: now,
      finishedAtMs: null,
      changeMark,
    });
    for (const ring of outdated) {
      this.#requireLead();
      // A ring in use keeps polling its old generation meanwhile; a new one is used while it fills.
      const activate = ring.generation === 0;
      const selection = selectionOf(ring, view);
      await this.deps.live.rings.startGeneration(ring, MIN_BUCKETS, { activate, selection });
    }
    return 0;
  }

  async #loadBatch(progress: InitProgress, rings: readonly RingState[], view: RingView): Promise<number> {
    const { initBatch, initPauseMs, clock } = this.deps;
    const loading = rings.filter((ring) => ring.building !== null || !ring.loaded);
    const { count, lastCardId } = await this.#loader.load(progress.lastCardId, initBatch, loading, view);
    const last = count < initBatch;
    if (last) await this.#activate(loading);
    const loaded = progress.loaded + count;
    const batch = progress.batch + (count > 0 ? 1 : 0);
    const now = clock.now();
    await this.#saveAndTell({
      ...progress,
      status: last ? 'completed' : 'running',
      // An estimate at first, and cards are added all the time: exact at the end.
      total: last ? loaded : Math.max(progress.total, loaded),
      loaded,
      lastCardId,
      batch,
      batches: last ? batch : Math.max(progress.batches, batch + 1),
      updatedAtMs: now,
      finishedAtMs: last ? now : null,
    });
    return last ? SYNC_EVERY_MS : initPauseMs;
  }

  async #activate(rings: readonly RingState[]): Promise<void> {
    for (const ring of rings) {
      this.#requireLead();
      await this.deps.live.rings.activate(ring);
    }
  }

  /** A step of comparing rings and cards, with the changes followed in the middle of it (reconciler.ts). */
  async #compare(
    progress: InitProgress,
    reconciliation: Reconciliation,
    rings: readonly RingState[],
    view: RingView,
  ): Promise<number> {
    const looked = await this.#reconciler.look(reconciliation, view, this.deps.initBatch);
    const { mark: changeMark, caughtUp } = await this.#follow(progress, rings);
    const healed = looked !== null && caughtUp ? await this.#reconciler.heal(looked) : null;
    await this.#saveCompared({ ...progress, changeMark }, progress, looked, healed);
    await this.#resize(rings);
    return healed === null || healed.reason === 'continuous' ? SYNC_EVERY_MS : this.deps.initPauseMs;
  }

  /** A fast pass is told as initialisation is; a continuous one goes unnoticed. */
  async #saveCompared(
    now: InitProgress,
    before: InitProgress,
    looked: Suspicion | null,
    healed: Reconciliation | null,
  ): Promise<void> {
    const isFast = looked !== null && looked.state.reason !== 'continuous';
    const goesOn = healed !== null && healed.reason !== 'continuous';
    if (looked !== null && healed !== null && (isFast || goesOn)) {
      const { initBatch, clock, records } = this.deps;
      const { checked, startedAtMs } = healed;
      const isFirst = now.startedAtMs !== startedAtMs;
      const estimate = isFirst && goesOn ? await records.cards.estimate() : now.total;
      await this.#saveAndTell({
        ...now,
        status: goesOn ? 'running' : 'completed',
        reason: goesOn ? healed.reason : looked.state.reason,
        total: goesOn ? Math.max(estimate, checked) : checked,
        loaded: checked,
        batch: Math.ceil(checked / initBatch),
        batches: Math.ceil((goesOn ? Math.max(estimate, checked) : checked) / initBatch),
        startedAtMs,
        updatedAtMs: clock.now(),
        finishedAtMs: goesOn ? null : clock.now(),
      });
      return;
    }
    // Nothing is left of a build whose rings are gone, or whose end was cut off.
    if (before.status !== 'completed' && !isFast) {
      const at = this.deps.clock.now();
      await this.#saveAndTell({ ...now, status: 'completed', updatedAtMs: at, finishedAtMs: at });
    } else if (now.changeMark !== before.changeMark) await this.#save(now);
  }

  /** What the adds of this pass left to do, and what removed cards left to merge; a little at a time. */
  async #resize(rings: readonly RingState[]): Promise<void> {
    for (const ring of rings) {
      this.#requireLead();
      await this.deps.live.rings.resize(ring, RESIZE_STEPS_A_PASS);
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
    if (this.#fence !== null && this.deps.fence() === this.#fence) return;
    throw new CardpollError('busy', 'lead_lost', 'this instance lost the lead in the middle of a pass');
  }
}

/** The rings know for which selection of cards they were built; a build under way counts. */
function isBuiltFor(ring: RingState, view: RingView): boolean {
  const build = ring.building ?? ring;
  return build.generation > 0 && build.selection === selectionOf(ring, view);
}

function selectionOf(ring: RingState, view: RingView): string {
  const config = view.configs.find((one) => ringKey(ringOf(one)) === ringKey(ring));
  return config === undefined ? '' : view.matcher.selectionOf(config);
}
