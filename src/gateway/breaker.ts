// A breaker: stops calls while what it watches fails, probes whether it is back, and lets load return slowly. One
// watches each interface, one the whole gateway (flow-control.ts, which decides what counts for which). It calls
// nothing and has no timer: time moves its state only when somebody asks or reports.
import type { BreakerReport } from '../domain/breaker.ts';
import type { Clock } from '../platform/clock.ts';
import { Evidence } from './evidence.ts';
import type { InterfaceName, Permit } from './gateway.ts';

export type BreakerPhase = 'closed' | 'open' | 'half_open' | 'slow_start';

/** 'nothing' says nothing about the gateway, not even that it answers. */
export type CallOutcome = 'ok' | 'fault' | 'nothing';

export interface BreakerDeps {
  readonly clock: Clock;
  /** Uniform in [0, 1); spreads the instances' probes. */
  readonly random: () => number;
  /** Told about every change, for the log. */
  readonly onChange: (phase: BreakerPhase, reason: string) => void;
}

const FIRST_OPEN_MS = 5_000;
/** With the slow start, full pace is back within half a minute of the gateway's healing. */
const MAX_OPEN_MS = 15_000;
/** An open breaker waits between 80 and 120 % of its time. */
const JITTER = 0.4;
/** A probe nobody reported on by now may never have been sent (its card is gone): another may go, one a second. */
const PROBE_PATIENCE_MS = 1_000;
/** When no card that does not fail was due for this long, any card may be the probe. */
const NO_CARD_PATIENCE_MS = 1_000;
const DOUBLING_MS = 1_000;
/** Above this many calls in flight the limit of the task types holds back, not the slow start. */
const FULL_ALLOWANCE = 1_024;

/**
 * Evidence is a call for a card that was not failing before, and any call that succeeds. What a card that was failing
 * already does again says nothing: such cards are asked more often than others, and would outvote them.
 *
 * closed      Nothing is held back. When half of at least 20 calls in 10 s, or the last 20, were faults (evidence.ts), it
 *             opens.
 * open        No call may start. The first time this lasts 5 s, and twice as long after every failed attempt to come
 *             back, up to 15 s; each time +- 20 %, so that instances do not probe in step. Then half open.
 * half_open   One call may start, the probe, for a card that is not failing. Where none is due for a second any card will
 *             do, and its failure counts. A fault opens again, for longer. Success begins the slow start. A probe that
 *             told nothing is followed by another at once, one that is not reported on by another after 1 s.
 * slow_start  One call in flight is allowed, twice as many every second. The closed state's rule still applies over the
 *             calls since the probe: a gateway that breaks under the growing load opens the breaker again, for longer.
 *             At 1,024 it closes and the next opening starts from 5 s again.
 *
 * Late reports of calls started before the breaker opened are ignored while it is open. Those arriving in half_open are
 * taken for the probe's: a gateway that still times out is not back, and one that answers is.
 */
export class Breaker {
  #phase: BreakerPhase = 'closed';
  #reason: string | null = null;
  /** Since when it is closed, or is not. */
  #sinceMs: number;
  /** What was wrong with the last call that was a fault. */
  #lastFault: string | null = null;
  readonly #evidence = new Evidence();
  /** Failed attempts since the breaker was last closed. */
  #attempts = 0;
  #reopenAt = 0;
  #slowStartAt = 0;
  /** Somebody looks for a card to probe with. */
  #seeking = false;
  /** When the outstanding probe was sent; null when one may start. */
  #probeAt: number | null = null;
  /** Since when no card that does not fail was found; null while there are some. */
  #noCardSince: number | null = null;
  /** The probe may be any card's: its failure counts. */
  #anyCardProbes = false;

  constructor(private readonly deps: BreakerDeps) {
    this.#sinceMs = deps.clock.now();
  }

  get phase(): BreakerPhase {
    return this.#phase;
  }

  report(name: string): BreakerReport {
    const now = this.deps.clock.monotonic();
    this.#advance(now);
    return {
      interface: name,
      state: this.#phase === 'slow_start' ? 'half_open' : this.#phase,
      sinceMs: this.#sinceMs,
      reason: this.#reason,
      nextProbeAtMs: this.#phase === 'open' ? Math.round(this.deps.clock.now() + this.#reopenAt - now) : null,
    };
  }

  /** Asks for calls that begin after a claim. A probe is this permit's until `used` tells what became of it. */
  permit(inFlight: number): Permit {
    const now = this.deps.clock.monotonic();
    this.#advance(now);
    if (this.#phase === 'closed') return UNLIMITED;
    const calls = this.#allowance(inFlight, now);
    if (calls === 0) return NONE;
    const probe = this.#phase === 'half_open';
    const retries = this.#noCardSince !== null && now - this.#noCardSince >= NO_CARD_PATIENCE_MS;
    if (probe) this.#seeking = true;
    return {
      calls,
      retries,
      used: (items) => {
        if (probe) this.#seeking = false;
        if (items === null) return;
        if (items === 0) this.#noCardSince ??= this.deps.clock.monotonic();
        else if (!retries) this.#noCardSince = null;
        if (items > 0 && probe && this.#phase === 'half_open') this.#sendProbe(retries);
      },
    };
  }

  /** Asks for one call that begins at once. */
  admit(inFlight: number): boolean {
    const now = this.deps.clock.monotonic();
    this.#advance(now);
    if (this.#phase === 'closed') return true;
    if (this.#allowance(inFlight, now) === 0) return false;
    if (this.#phase === 'half_open') this.#sendProbe(false);
    return true;
  }

  /** @param failing the card's last poll failed too. @param fault what was wrong, for whoever reads the reason */
  record(
    interfaceName: InterfaceName,
    outcome: CallOutcome,
    failing: boolean,
    fault: string | null = null,
  ): void {
    const now = this.deps.clock.monotonic();
    this.#advance(now);
    this.#lastFault = fault ?? this.#lastFault;
    if (this.#phase === 'open') return;
    if (this.#phase === 'half_open') {
      this.#judgeProbe(outcome === 'fault' && failing && !this.#anyCardProbes ? 'nothing' : outcome, now);
      return;
    }
    const isFault = outcome === 'fault';
    if (outcome === 'nothing' || (isFault && failing)) return;
    this.#evidence.add(interfaceName, now, isFault);
    if (!isFault) return;
    const broken = this.#evidence.verdict(now);
    if (broken !== null) this.#open(now, broken);
  }

  /** Closes and forgets: another breaker watches the same trouble. */
  reset(reason: string): void {
    this.#attempts = 0;
    this.#evidence.clear();
    if (this.#phase !== 'closed') this.#change('closed', reason);
  }

  #allowance(inFlight: number, now: number): number {
    if (this.#phase === 'slow_start') return Math.max(0, this.#slowStartLimit(now) - inFlight);
    if (this.#phase === 'open' || this.#seeking) return 0;
    return this.#probeAt === null || now - this.#probeAt >= PROBE_PATIENCE_MS ? 1 : 0;
  }

  #sendProbe(anyCard: boolean): void {
    this.#probeAt = this.deps.clock.monotonic();
    this.#anyCardProbes = anyCard;
  }

  #advance(now: number): void {
    if (this.#phase === 'open' && now >= this.#reopenAt) {
      this.#seeking = false;
      this.#probeAt = null;
      this.#noCardSince = null;
      this.#anyCardProbes = false;
      this.#change('half_open', 'time to probe');
    } else if (this.#phase === 'slow_start' && this.#slowStartLimit(now) >= FULL_ALLOWANCE) {
      this.#attempts = 0;
      this.#change('closed', 'the gateway has recovered');
    }
  }

  #judgeProbe(outcome: CallOutcome, now: number): void {
    if (outcome === 'nothing') this.#probeAt = null;
    else if (outcome === 'fault') this.#open(now, 'the probe failed');
    else {
      this.#slowStartAt = now;
      this.#evidence.clear();
      this.#change('slow_start', 'the probe succeeded');
    }
  }

  #open(now: number, reason: string): void {
    const nominalMs = Math.min(MAX_OPEN_MS, FIRST_OPEN_MS * 2 ** this.#attempts);
    const openMs = Math.round(nominalMs * (1 - JITTER / 2 + JITTER * this.deps.random()));
    this.#attempts += 1;
    this.#reopenAt = now + openMs;
    this.#evidence.clear();
    const why = this.#lastFault === null ? reason : `${reason}: ${this.#lastFault}`;
    this.#change('open', why, `${why}; next probe in ${openMs} ms`);
  }

  #slowStartLimit(now: number): number {
    return 2 ** Math.floor((now - this.#slowStartAt) / DOUBLING_MS);
  }

  /** @param logged the reason as of this moment */
  #change(phase: BreakerPhase, reason: string, logged = reason): void {
    // An outage is one, however many probes it fails.
    if (phase === 'closed' || this.#phase === 'closed') this.#sinceMs = this.deps.clock.now();
    this.#phase = phase;
    this.#reason = phase === 'closed' ? null : reason;
    this.deps.onChange(phase, logged);
  }
}

const UNLIMITED: Permit = { calls: Number.POSITIVE_INFINITY, retries: true, used: () => {} };
export const NONE: Permit = { calls: 0, retries: false, used: () => {} };
