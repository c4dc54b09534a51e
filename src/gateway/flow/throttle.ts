// Reduces the calls to one interface to a trickle while none succeeds. Used by flow-control.ts, one for each interface and
// instance. Makes no calls and has no timer. docs/decisions/0028-flow-control.md explains the rule.
import type { BreakerReport, BreakerState } from '../../domain/limits/breaker.ts';
import type { Clock } from '../../platform/clock.ts';
import type { GatewayError, Permit } from '../gateway.ts';

/** With this many failures in a row, and no success for this long, the interface counts as dead. */
const FAILURES_IN_A_ROW = 30;
const NO_SUCCESS_MS = 10_000;
/** Maximum of calls in flight before the first success: ten instances that join must not flood a dead interface. */
const FIRST_ALLOWANCE = 10;
/** Calls added for each success; from AMPLE_ALLOWANCE on nothing is held back. */
const ALLOWANCE_PER_SUCCESS = 50;
const AMPLE_ALLOWANCE = 600;
/** Adds up to half of the interval, so that the trickle does not run in step with a gateway that fails periodically. */
const TRICKLE_EVERY_MS = 1_000;
const TRICKLE_JITTER = 0.5;
/** This many refusals (429, 503) since the last other answer mean that the gateway refuses every call, not some cards. */
const REFUSALS_IN_A_ROW = 10;

export interface ThrottleDeps {
  readonly clock: Clock;
  /** Uniform in [0, 1): spreads the trickle. */
  readonly random: () => number;
  /** Called on every change of the state, for the log. */
  readonly onChange: (state: BreakerState, reason: string) => void;
}

/**
 * closed     Calls pass as long as some succeed, however many fail. When 30 fail in a row and none succeeded for
 *            10 s, it opens. A card's own failure (an unknown card, a business error) is a success here.
 * open       One call a second passes. A success makes it half open.
 * half_open  50 calls may be in flight for each success, so full pace is back within a few round trips; with the twelfth
 *            it closes. 30 failures in a row open it again.
 *
 * An instance that has just started is closed, but may have only 10 calls in flight until the first success, and it opens
 * like a half-open one.
 */
export class Throttle {
  /** Calls that may be in flight. */
  #allowance = FIRST_ALLOWANCE;
  #state: BreakerState = 'closed';
  #sinceMs: number;
  #failuresInARow = 0;
  #refusalsInARow = 0;
  #succeededAt = Number.NEGATIVE_INFINITY;
  #lastFailure: GatewayError | null = null;
  /** When the next call of the trickle may go. */
  #trickleAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: ThrottleDeps) {
    this.#sinceMs = deps.clock.now();
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** False until the first call has ended. */
  get isUsed(): boolean {
    return this.#lastFailure !== null || this.#allowance !== FIRST_ALLOWANCE;
  }

  get lastFailure(): GatewayError | null {
    return this.#lastFailure;
  }

  /** True while only a trickle passes because the gateway refuses every call (429 or 503). */
  get refusesAll(): boolean {
    return this.#state === 'open' && this.#refusalsInARow >= REFUSALS_IN_A_ROW;
  }

  /** Why a call without a permit has to wait. */
  get why(): string {
    return this.#failuresInARow > 0
      ? 'it fails at the gateway'
      : `their number grows with each success, from ${FIRST_ALLOWANCE} at a time`;
  }

  /** @param inFlight calls of this instance to the interface */
  permit(inFlight: number): Permit {
    if (this.#allowance >= AMPLE_ALLOWANCE) return UNLIMITED;
    if (this.#state !== 'open') return { calls: Math.max(0, this.#allowance - inFlight), trickle: false };
    const now = this.deps.clock.monotonic();
    if (now < this.#trickleAt) return NONE;
    this.#trickleAt = now + TRICKLE_EVERY_MS * (1 + TRICKLE_JITTER * this.deps.random());
    return TRICKLE;
  }

  /** Call this when the trickle's call found no card, so that the next one need not wait. */
  giveBack(): void {
    this.#trickleAt = Number.NEGATIVE_INFINITY;
  }

  /** @param error null: the call succeeded */
  record(error: GatewayError | null): void {
    const now = this.deps.clock.monotonic();
    if (error?.isUntried) return;
    if (error !== null && !error.isCardFault) {
      // The client was closed.
      if (!error.isGatewayFault) return;
      this.#failuresInARow += 1;
      this.#refusalsInARow = error.failure === 'backpressure' ? this.#refusalsInARow + 1 : 0;
      this.#lastFailure = error;
      if (this.#state === 'open' || !this.#isDead(now)) return;
      this.#allowance = 0;
      this.#change('open');
      return;
    }
    this.#failuresInARow = 0;
    this.#refusalsInARow = 0;
    this.#succeededAt = now;
    this.#allowance = Math.min(AMPLE_ALLOWANCE, this.#allowance + ALLOWANCE_PER_SUCCESS);
    if (this.#state === 'closed') return;
    if (this.#allowance === AMPLE_ALLOWANCE) this.#change('closed');
    else if (this.#state === 'open') this.#change('half_open');
  }

  report(name: string): BreakerReport {
    const { clock } = this.deps;
    const untilTrickleMs = Math.max(0, this.#trickleAt - clock.monotonic());
    return {
      interface: name,
      state: this.#state,
      sinceMs: this.#sinceMs,
      reason: this.#state === 'closed' ? null : this.#reason(),
      kind: this.#state === 'open' ? (this.#lastFailure?.kind ?? null) : null,
      nextProbeAtMs: this.#state === 'open' ? Math.round(clock.now() + untilTrickleMs) : null,
    };
  }

  #isDead(now: number): boolean {
    const isProven = this.#allowance >= AMPLE_ALLOWANCE;
    const isPatient = isProven && now - this.#succeededAt < NO_SUCCESS_MS;
    return this.#failuresInARow >= FAILURES_IN_A_ROW && !isPatient;
  }

  #reason(): string {
    if (this.#state === 'half_open') return 'calls succeed again: their number grows with each success';
    const failed = `${this.#failuresInARow} calls in a row failed`;
    return `${failed}, the last with: ${this.#lastFailure?.message}; one call a second passes`;
  }

  #change(state: BreakerState): void {
    // A successful call of the trickle does not end an outage, so the outage keeps its start.
    if (state === 'closed' || this.#state === 'closed') this.#sinceMs = this.deps.clock.now();
    this.#state = state;
    this.deps.onChange(state, state === 'closed' ? 'calls succeed again' : this.#reason());
  }
}

const UNLIMITED: Permit = { calls: Number.POSITIVE_INFINITY, trickle: false };
const TRICKLE: Permit = { calls: 1, trickle: true };
const NONE: Permit = { calls: 0, trickle: false };
