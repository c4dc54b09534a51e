// Lets the polls of one worker begin at the pace of the rate limits. Used by gate.ts. Cards are claimed and read first, a few
// ahead, and a call is asked for when it can be sent at once: a grant that waits for a claim and for a card is often too
// late. No type that has nothing to poll asks for calls.
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import type { TaskType } from '../../domain/task-type.ts';
import { withTimeout } from '../../platform/clock.ts';
import type { LoopDeps } from '../../platform/loop.ts';
import type { WorkItem } from '../../store/ports/live/work-queue.ts';
import type { CallPace } from '../limits/call-pace.ts';
import type { Deadline } from './task.ts';

/** Shortest rest while calls are short: at high rates several calls are granted after it. */
const MIN_REST_MS = 10;
const MAX_REST_MS = 250;
/** A claimed card waits for its call for this long at most, and for this share of its time; then it is returned. */
const MAX_WAIT_MS = 1_000;
const WAIT_SHARE = 0.25;
/**
 * As many cards are kept ready as got their calls within this time: a worker that a busy machine wakes up late finds the calls
 * of that time, and claiming and reading cards takes time too.
 */
const LOOK_AHEAD_MS = 700;
/** Cards claimed ahead at most: all of them are returned when calls become short. */
const MAX_AHEAD = 1_000;

interface Waiting {
  readonly item: WorkItem;
  /** Monotonic clock. */
  readonly until: number;
  readonly end: (mayCall: boolean) => void;
}

interface PollPaceDeps extends LoopDeps {
  readonly taskType: TaskType;
  readonly interfaceName: InterfaceName;
  readonly pace: Pick<CallPace, 'take'>;
  /** Waits until a call could be sent at once. */
  readonly ready: () => Promise<void>;
  /** Most cards that one call is for. */
  readonly cardsPerCall: number;
  /** Called when calls were granted: the worker may claim again. */
  readonly onGranted: () => void;
}

/** @returns null without a rate limit for the calls of the task type. */
export function pollPaceOf(
  pace: Pick<CallPace, 'counts' | 'take'> | null | undefined,
  deps: Omit<PollPaceDeps, 'pace'>,
): PollPace | null {
  return pace?.counts(deps.interfaceName) === true ? new PollPace({ ...deps, pace }) : null;
}

export class PollPace {
  /** Claimed cards whose call was not made yet. */
  readonly #claimed = new Set<WorkItem>();
  #waiting: Waiting[] = [];
  /** How many cards to claim ahead. */
  #ahead: number;
  /** How many cards got their calls within LOOK_AHEAD_MS, in order of time. */
  #recent: Array<{ readonly at: number; readonly cards: number }> = [];
  #isAsking = false;

  constructor(private readonly deps: PollPaceDeps) {
    this.#ahead = deps.cardsPerCall;
  }

  /** Number of cards that may be claimed now. */
  get room(): number {
    return this.#ahead - this.#claimed.size;
  }

  /** True while cards wait for a call. */
  get isShort(): boolean {
    return this.#waiting.length > 0;
  }

  claimed(items: readonly WorkItem[]): void {
    for (const item of items) this.#claimed.add(item);
  }

  /** The item needs no call any more. */
  ended(item: WorkItem): void {
    this.#claimed.delete(item);
  }

  /** Waits until the call of this item may be sent: at once. @returns false when it is to be returned instead. */
  async turn(item: WorkItem, deadline: Deadline): Promise<boolean> {
    const withinMs = Math.min(MAX_WAIT_MS, WAIT_SHARE * deadline.remainingMs());
    const until = this.deps.clock.monotonic() + withinMs;
    const mayCall = new Promise<boolean>((end) => {
      this.#waiting.push({ item, until, end });
    });
    if (!this.#isAsking) void this.#ask();
    return mayCall;
  }

  /** Lets all cards that wait be returned. */
  stop(): void {
    this.#end(this.#waiting.splice(0), false);
  }

  #end(waiting: readonly Waiting[], mayCall: boolean): void {
    for (const { item, end } of waiting) {
      this.#claimed.delete(item);
      end(mayCall);
    }
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    // The cards of one claim come in the same turn.
    await Promise.resolve();
    try {
      while (this.#waiting.length > 0) {
        const restMs = await this.#askOnce();
        if (this.#waiting.length > 0 && restMs > 0) await this.deps.clock.sleep(restMs);
        this.#giveUpLate();
      }
    } catch (error) {
      this.deps.onError(error, 0);
      this.stop();
    } finally {
      this.#isAsking = false;
    }
  }

  /** @returns milliseconds until it is worth to ask again. */
  async #askOnce(): Promise<number> {
    const { taskType, interfaceName, pace, cardsPerCall, clock } = this.deps;
    // Calls that are granted while a token is waited for would all be sent when it comes.
    if (!(await withTimeout(MAX_REST_MS, this.deps.ready(), clock))) return 0;
    const callsFor = (cards: number) => Math.ceil(cards / cardsPerCall);
    const grant = await pace.take(taskType, interfaceName, callsFor(this.#waiting.length));
    // The store answered too late, or this process was stopped meanwhile: the calls would come on top of later ones.
    const calls = clock.monotonic() > grant.expiresAt ? 0 : grant.calls;
    const granted = this.#waiting.splice(0, calls * cardsPerCall);
    void grant.giveBack(grant.calls - callsFor(granted.length));
    const isEnough = this.#waiting.length === 0;
    const ahead = Math.max(this.#recently(granted.length), 2 * (isEnough ? this.#ahead : granted.length));
    this.#ahead = Math.max(cardsPerCall, Math.min(MAX_AHEAD, ahead));
    this.#end(granted, true);
    if (granted.length > 0) this.deps.onGranted();
    return grant.waitMs === 0 ? 0 : Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, grant.waitMs));
  }

  /** @returns the number of cards that got their calls lately, these included. */
  #recently(cards: number): number {
    const at = this.deps.clock.monotonic();
    this.#recent = this.#recent.filter((one) => one.at > at - LOOK_AHEAD_MS);
    if (cards > 0) this.#recent.push({ at, cards });
    return this.#recent.reduce((sum, one) => sum + one.cards, 0);
  }

  #giveUpLate(): void {
    const now = this.deps.clock.monotonic();
    const late = this.#waiting.filter(({ until }) => until <= now);
    if (late.length === 0) return;
    this.#waiting = this.#waiting.filter(({ until }) => until > now);
    this.#end(late, false);
  }
}
