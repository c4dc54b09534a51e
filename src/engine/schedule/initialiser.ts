// Keeps the rings' members in step with the cards table. Runs on the leader, one pass at a time, as a small state machine. Its
// state is polling:init:progress, so the next leader continues where the last one was killed:
//   pending    no build yet, or the live store lost its progress: save the change mark -> running
//   running    walk round the cards (in id order), batch by batch with pauses: add them to the rings that are being built.
//              A ring joins anywhere in the walk, and is loaded when the walk has come round to its start. With the last
//              ring -> completed. Without a ring to build, a fast pass of reconciliation (reconciler.ts) runs in batches.
//   completed  apply changed cards, split and merge buckets, and reconcile slowly and continuously
// A ring is built if it never was, is not loaded yet, or was built for another selection of cards than its config has now. A ring
// in use keeps polling its old generation until the new one is loaded. Changed cards are applied (card-sync.ts) in every state:
// when a card is removed between the read and the add of a batch, the next sync takes it out. The live store does not fence these
// writes, so every write first checks the lead: a process that was paused in a pass must not undo the work of the next leader. A
// pass ends with its lead, whose configs are outdated afterwards.
import type { MonthCalendar } from '../../domain/cards/month-calendar.ts';
import { MIN_BUCKETS } from '../../domain/schedule/phase.ts';
import type { ConfigMatcher } from '../../domain/schedule/polling-config.ts';
import { CardpollError } from '../../platform/errors.ts';
import { LoopService } from '../../platform/loop.ts';
import type {
  InitProgress,
  Reconciliation,
  ReconciliationReason,
} from '../../store/ports/live/coordination.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import { type RingState, ringKey } from '../../store/ports/live/rings.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import type { LeaderDeps } from '../leadership.ts';
import { CardSync } from './card-sync.ts';
import { Reconciler } from './reconciler.ts';
import { isBuiltFor, isLoading, selectionOf } from './ring-build.ts';
import { RingMarks } from './ring-marks.ts';
import type { Repairs } from './ring-repair.ts';
import { ringOf } from './scheduler.ts';

const SYNC_EVERY_MS = 1_000;
const NOT_LEADING_REST_MS = 500;
/** Splits or merges of one ring in one pass: a few milliseconds of the live store, and the buckets of 50,000 cards. */
const RESIZE_STEPS_A_PASS = 512;

export interface InitialiserDeps extends LeaderDeps {
  readonly live: Pick<LiveStore, 'rings' | 'coordination' | 'cards' | 'work' | 'identity' | 'now'>;
  readonly records: Pick<RecordStore, 'cards' | 'configs' | 'identity' | 'stops'>;
  /** Orders the stops of cards that are over their package. */
  readonly judgeChanged: (cardIds: readonly number[]) => Promise<void>;
  readonly calendar: MonthCalendar;
  readonly matcher: () => ConfigMatcher;
  /** Cards in one batch; initPauseMs is the pause between two batches (operations interface, section 8). */
  readonly initBatch: number;
  readonly initPauseMs: number;
  /** A ring stops adding cards to the queue at this length. */
  readonly queueCap: number;
  readonly onProgress: (progress: InitProgress) => void;
  /** Called when a fast pass starts to compare all rings with the cards. */
  readonly onReconcile: (reason: ReconciliationReason) => void;
  readonly onRepair: (repairs: Repairs) => void;
}

/** The constants of a build or a fast pass, and its position. */
type Pass = Pick<InitProgress, 'reason' | 'startedAtMs' | 'lastCardId' | 'changeMark'>;

export class Initialiser extends LoopService<InitialiserDeps> {
  readonly name = 'initialiser';
  readonly #sync = new CardSync({ ...this.deps, requireLead: () => this.#requireLead() });
  readonly #reconciler = new Reconciler({
    ...this.deps,
    requireLead: () => this.#requireLead(),
    onBegin: this.deps.onReconcile,
  });
  readonly #marks = new RingMarks({ ...this.deps, requireLead: () => this.#requireLead() });
  /** The fencing token of the lead under which the current pass began. */
  #fence: number | null = null;
  /** When the pause between two batches ends, on the monotonic clock. */
  #pausedUntil = 0;
  /** More changes were waiting than one pass applies: rings and cards are compared again after the last of them. */
  #isBehind = false;

  async runOnce(): Promise<number> {
    this.#fence = this.deps.fence();
    if (this.#fence === null) return NOT_LEADING_REST_MS;
    const matcher = this.deps.matcher();
    const rings = await this.#rings(matcher);
    if (rings === null) return NOT_LEADING_REST_MS;
    const stored = await this.deps.live.coordination.initProgress();
    const { progress, reconciliation } = await this.#notice(stored, rings);
    await this.#marks.save(rings);
    // A ring without buckets takes no cards, so it is built before changed cards are put into it.
    const walks = progress.status === 'running' && progress.reason === 'build';
    // The walk that a loading ring had joined is lost, so its build starts again.
    const outdated = rings.filter((ring) => !isBuiltFor(ring, matcher) || (!walks && isLoading(ring)));
    if (outdated.length > 0) {
      return this.#join(outdated, matcher, walks ? progress : { ...progress, lastCardId: 0 });
    }
    if (rings.some(isLoading)) {
      const { mark } = await this.#follow(progress, rings);
      const now = { ...progress, changeMark: mark };
      if (!this.#isPausing()) return this.#loadBatch(now, rings, matcher);
      if (mark !== progress.changeMark) await this.#save(now);
      return this.#restMs();
    }
    return this.#compare(progress, reconciliation, rings, matcher);
  }

  /** The rings of the current configs; null until the scheduler has configured all of them. */
  async #rings(matcher: ConfigMatcher): Promise<RingState[] | null> {
    const wanted = new Set(matcher.configs.map((config) => ringKey(ringOf(config))));
    const found = await this.deps.live.rings.list();
    for (const ring of found) {
      if (wanted.has(ringKey(ring))) continue;
      // The cards of a dropped ring may now belong to other configs, whose selections change too: they are rebuilt.
      this.#requireLead();
      await this.deps.live.rings.drop(ring);
    }
    const rings = found.filter((ring) => wanted.has(ringKey(ring)));
    return rings.length === wanted.size ? rings : null;
  }

  /** Begins a fast comparison if there is a reason, and takes a new change mark if the old one is useless. */
  async #notice(progress: InitProgress, rings: readonly RingState[]) {
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

  /** Saves the mark first: an instance that is killed in between leaves the reason in place. */
  async #beginWithNewMark(progress: InitProgress, state: Reconciliation) {
    const marked = { ...progress, changeMark: await this.deps.records.cards.changeMark() };
    await this.#save(marked);
    return { progress: marked, reconciliation: await this.#reconciler.begin(state, 'record_store_replaced') };
  }

  /**
   * Applies the cards that changed since the mark. A database older than the mark was restored from a backup, so all rings are
   * compared.
   */
  async #follow(progress: InitProgress, rings: readonly RingState[]) {
    try {
      return await this.#sync.follow(progress.changeMark, rings);
    } catch (error) {
      if (!(error instanceof CardpollError && error.code === 'change_mark_ahead')) throw error;
      const begun = await this.#beginWithNewMark(progress, await this.#reconciler.read());
      return { mark: begun.progress.changeMark, caughtUp: false };
    }
  }

  /**
   * Begins to load rings, at the walk's current card. The progress is saved first and shows the work left for the last ring: if
   * the instance is killed in between, the build starts again and never appears further ahead than it is.
   */
  async #join(
    outdated: readonly RingState[],
    matcher: ConfigMatcher,
    { lastCardId, changeMark }: InitProgress,
  ): Promise<number> {
    const { live, records } = this.deps;
    const pass = { reason: 'build', lastCardId, startedAtMs: await live.now(), changeMark } as const;
    await this.#report(pass, 0, await records.cards.estimate(), false);
    const owed = await this.#marks.owedFrom(outdated);
    for (const ring of outdated) {
      this.#requireLead();
      await live.rings.startGeneration(ring, MIN_BUCKETS, {
        selection: selectionOf(ring, matcher),
        afterId: lastCardId,
        owedFromMs: owed.get(ringKey(ring)) ?? null,
      });
    }
    return 0;
  }

  async #loadBatch(
    progress: InitProgress,
    rings: readonly RingState[],
    matcher: ConfigMatcher,
  ): Promise<number> {
    const { lastCardId: from, loaded, total } = progress;
    const loading = rings.filter(isLoading);
    const { count, lastCardId } = await this.#sync.load(from, this.deps.initBatch, loading, matcher);
    const isEnd = count < this.deps.initBatch;
    // A ring that joined here begins here; one that joined with the first card ends with the last.
    const complete = loading.filter(({ joinedAfterId: at }) =>
      isEnd ? at === 0 || at > from : at > from && at <= lastCardId,
    );
    for (const ring of complete) {
      this.#requireLead();
      await this.deps.live.rings.activate(ring);
    }
    const isLast = complete.length === loading.length;
    const at = isEnd && !isLast ? 0 : lastCardId;
    await this.#report({ ...progress, lastCardId: at }, loaded + count, total, isLast);
    return isLast ? SYNC_EVERY_MS : this.#pause();
  }

  /** Compares rings and cards for one step; changed cards are applied in the middle of it (reconciler.ts). */
  async #compare(
    progress: InitProgress,
    reconciliation: Reconciliation,
    rings: readonly RingState[],
    matcher: ConfigMatcher,
  ): Promise<number> {
    const waits = this.#isBehind || (reconciliation.reason !== 'continuous' && this.#isPausing());
    const looked = waits ? null : await this.#reconciler.look(reconciliation, matcher, this.deps.initBatch);
    const { mark: changeMark, caughtUp } = await this.#follow(progress, rings);
    this.#isBehind = !caughtUp;
    const healed = looked !== null && caughtUp ? await this.#reconciler.heal(looked) : null;
    // A comparison that waits for a large number of changes is not stuck.
    const isHeldUp = progress.status === 'running' && !caughtUp;
    const updatedAtMs = isHeldUp ? await this.deps.live.now() : progress.updatedAtMs;
    const now = { ...progress, changeMark, updatedAtMs };
    await this.#saveCompared(now, progress, reconciliation.reason, healed);
    await this.#resize(rings);
    if (!caughtUp) return 0;
    if ((healed ?? reconciliation).reason === 'continuous') return SYNC_EVERY_MS;
    return healed === null ? this.#restMs() : this.#pause();
  }

  /** Reports a fast pass in the same way as initialisation; a continuous pass is not reported. */
  async #saveCompared(
    now: InitProgress,
    before: InitProgress,
    reason: ReconciliationReason,
    healed: Reconciliation | null,
  ): Promise<void> {
    const isFast = reason !== 'continuous';
    const isContinued = healed !== null && healed.reason !== 'continuous';
    if (healed !== null && (isFast || isContinued)) {
      const { checked, startedAtMs } = healed;
      const isFirst = now.startedAtMs !== startedAtMs;
      const estimate = isFirst && isContinued ? await this.deps.records.cards.estimate() : now.total;
      const shown = isContinued ? healed.reason : reason;
      return this.#report({ ...now, reason: shown, startedAtMs }, checked, estimate, !isContinued);
    }
    // The progress still shows a build whose rings are gone, or whose end was cut off: no card is left to load.
    if (before.status !== 'completed' && !isFast) await this.#report(now, now.total, now.total, true);
    else if (now.changeMark !== before.changeMark) await this.#save(now);
  }

  /** Splits buckets that grew with added cards and merges buckets that shrank with removed cards, a few per pass. */
  async #resize(rings: readonly RingState[]): Promise<void> {
    for (const ring of rings) {
      this.#requireLead();
      await this.deps.live.rings.resize(ring, RESIZE_STEPS_A_PASS);
    }
  }

  /** @param total number of cards, at first an estimate, because cards are added meanwhile; exact at the end. */
  async #report(pass: Pass, loaded: number, total: number, isOver: boolean): Promise<void> {
    const { initBatch, live, onProgress } = this.deps;
    const now = await live.now();
    const batch = Math.ceil(loaded / initBatch);
    // A build may need one more, partial batch; a comparison continues with the members when all cards were read.
    const atLeast = pass.reason === 'build' ? batch + 1 : batch;
    const progress: InitProgress = {
      ...pass,
      status: isOver ? 'completed' : 'running',
      total: isOver ? loaded : Math.max(total, loaded),
      loaded,
      batch,
      batches: isOver ? batch : Math.max(atLeast, Math.ceil(total / initBatch)),
      updatedAtMs: now,
      finishedAtMs: isOver ? now : null,
    };
    await this.#save(progress);
    onProgress(progress);
  }

  async #save(progress: InitProgress): Promise<void> {
    this.#requireLead();
    await this.deps.live.coordination.saveInitProgress(progress);
  }

  /** Begins the pause between two batches. @returns the milliseconds until the next pass of the loop */
  #pause(): number {
    this.#pausedUntil = this.deps.clock.monotonic() + this.deps.initPauseMs;
    return this.#restMs();
  }

  #isPausing(): boolean {
    return this.deps.clock.monotonic() < this.#pausedUntil;
  }

  /** The rest of the pause. Changed cards and configs do not wait for a long pause. */
  #restMs(): number {
    return Math.min(SYNC_EVERY_MS, Math.max(0, this.#pausedUntil - this.deps.clock.monotonic()));
  }

  #requireLead(): void {
    if (this.#fence !== null && this.deps.fence() === this.#fence) return;
    throw new CardpollError('busy', 'lead_lost', 'this instance lost the lead in the middle of a pass');
  }
}
