// Requests grants for this instance's gateway calls from the live store, by the configured rate limits. Used by the workers
// (work/poll-pace.ts) and, for calls that follow a poll, by flow control. Exists only with a rate limit.
//
// A grant ages from the moment of its request, by the monotonic clock: a process that was stopped, or whose event loop stalled,
// finds it expired and sends nothing. Unused grants are returned or lost, never used later.
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import {
  callLimitsOf,
  countsCalls,
  type RateLimit,
  rateLimitWords,
  rateWords,
  stopWithinSeconds,
} from '../../domain/limits/rate-limit.ts';
import type { GatherDeps } from '../../gateway/gateway.ts';
import type { Logger } from '../../platform/logger.ts';
import { type LoopDeps, LoopService } from '../../platform/loop.ts';
import type { Pace, PaceGrant, PaceLimit, PaceParticipant } from '../../store/ports/live/pace.ts';

/**
 * A bucket without requests looks like one that lost its state. A limit may count only stops, which are rare, so the bucket is
 * touched.
 */
const TOUCH_EVERY_MS = 1_000;
/** Longest pause of a follow-up call between two requests. */
const MAX_REST_MS = 250;

type Follower = NonNullable<GatherDeps['participant']>;

/** Calls that are permitted until a time. */
interface CallGrant extends Pick<PaceGrant, 'calls' | 'waitMs'> {
  /** By the monotonic clock. */
  readonly expiresAt: number;
  giveBack(calls: number): Promise<void>;
}

/** The grant of a call that no limit counts. */
const NOT_COUNTED: CallGrant = {
  calls: 1,
  waitMs: 0,
  expiresAt: Number.POSITIVE_INFINITY,
  giveBack: async () => {},
};

interface CallPaceDeps extends LoopDeps {
  readonly limits: readonly PaceLimit[];
  readonly pace: Pick<Pace, 'take' | 'giveBack' | 'states'>;
  readonly log: Pick<Logger, 'warn' | 'info'>;
}

/** @returns null when no limit counts calls: then no grant is needed. */
export function callPaceOf(
  limits: readonly RateLimit[],
  deps: Omit<CallPaceDeps, 'limits'>,
): CallPace | null {
  const counted = callLimitsOf(limits);
  if (counted.length === 0) return null;
  const fields = {
    rate_limits: limits.map(rateLimitWords),
    stop_within_s: Math.ceil(stopWithinSeconds(counted)),
  };
  deps.log.info(fields, 'gateway calls are paced');
  return new CallPace({ ...deps, limits: counted });
}

export class CallPace extends LoopService<CallPaceDeps> {
  readonly name = 'call-pace';
  /** The last logged text about stricter limits of other instances. */
  #stricter = '';
  /** Calls of one kind on this instance request one after the other: first calls of orders, and calls that follow a poll. */
  readonly #turns: Record<Follower, Promise<unknown>> = {
    order: Promise.resolve(),
    follow_up: Promise.resolve(),
  };

  /** Keeps the buckets alive, and compares the limits in force with the configured ones. */
  async runOnce(): Promise<number> {
    const { limits, pace, log } = this.deps;
    await pace.take({ participant: 'follow_up', interfaceName: 'stop', calls: 0, limits });
    const inForce = await pace.states();
    const stricter = inForce.filter(({ id, perSecond, burst }) => {
      const own = limits.find((limit) => limit.id === id);
      return own === undefined || perSecond < own.perSecond || burst < own.burst;
    });
    const words = stricter
      .map(({ id, perSecond, burst }) => `${id}: ${rateWords(perSecond)}, burst ${burst}`)
      .join('; ');
    if (words === this.#stricter) return TOUCH_EVERY_MS;
    this.#stricter = words;
    if (words === '') log.info('rate limits as configured here');
    else log.warn({ in_force: words }, 'another instance has stricter rate limits: they are in force');
    return TOUCH_EVERY_MS;
  }

  /** True when a limit counts calls to this interface. */
  counts(interfaceName: InterfaceName): boolean {
    return this.deps.limits.some((limit) => countsCalls(limit, interfaceName));
  }

  /**
   * Waits for the grant of a call that follows a poll: none, or some milliseconds.
   * @returns null when no grant came within the time, or before the signal aborted.
   */
  followUp(
    interfaceName: InterfaceName,
    withinMs: number,
    { signal, participant = 'follow_up' }: GatherDeps,
  ): Promise<CallGrant | null> {
    if (!this.counts(interfaceName)) return Promise.resolve(NOT_COUNTED);
    const until = this.deps.clock.monotonic() + withinMs;
    const ask = () => this.#await(participant, interfaceName, until, signal);
    const granted = this.#turns[participant].then(ask);
    this.#turns[participant] = granted.catch(() => {});
    return granted;
  }

  /** @returns the grant, or a new one if it has expired; null: none was available at once. */
  async renewed(grant: Pick<CallGrant, 'expiresAt' | 'giveBack'>, interfaceName: InterfaceName) {
    const { clock } = this.deps;
    if (clock.monotonic() <= grant.expiresAt) return grant;
    await grant.giveBack(1);
    const other = await this.take('follow_up', interfaceName, 1);
    if (other.calls > 0 && clock.monotonic() <= other.expiresAt) return other;
    void other.giveBack(other.calls);
    return null;
  }

  async #await(
    participant: Follower,
    interfaceName: InterfaceName,
    until: number,
    signal?: AbortSignal,
  ): Promise<CallGrant | null> {
    const { clock } = this.deps;
    while (clock.monotonic() < until && signal?.aborted !== true) {
      const grant = await this.take(participant, interfaceName, 1);
      const now = clock.monotonic();
      if (grant.calls > 0 && now <= Math.min(grant.expiresAt, until)) return grant;
      void grant.giveBack(grant.calls);
      if (now + grant.waitMs > until) return null;
      await clock.sleep(Math.min(grant.waitMs, MAX_REST_MS), signal);
    }
    return null;
  }

  /** Requests calls: the first calls of polls of a task type, or the calls that follow them. */
  async take(participant: PaceParticipant, interfaceName: InterfaceName, calls: number): Promise<CallGrant> {
    const { limits, pace, clock } = this.deps;
    const askedAt = clock.monotonic();
    const grant = await pace.take({ participant, interfaceName, calls, limits });
    return {
      calls: grant.calls,
      waitMs: grant.waitMs,
      expiresAt: askedAt + grant.lifeMs,
      giveBack: (unused) => this.#giveBack(participant, grant, unused),
    };
  }

  /** A grant that cannot be returned is lost, which harms no one. */
  async #giveBack(participant: PaceParticipant, grant: PaceGrant, calls: number): Promise<void> {
    if (calls === 0) return;
    await this.deps.pace
      .giveBack({ participant }, grant, calls)
      .catch((error: unknown) => this.deps.onError(error, 0));
  }
}
