// How much the gateway can take just now: a breaker with probes and a slow start, one per gateway and instance. The
// workers ask before they claim and report how calls went; it neither calls the gateway nor pauses the fleet (429 and
// 503 do that, through the live store).
import type { Clock } from '../platform/clock.ts';
import type { FlowControl } from './gateway.ts';

export type FlowState = 'closed' | 'open' | 'half_open' | 'slow_start';

export interface GatewayFlowDeps {
  readonly clock: Clock;
  /** Uniform in [0, 1); spreads the instances' probes. */
  readonly random: () => number;
  /** Told about every change of state, for the log. */
  readonly onChange: (state: FlowState, reason: string) => void;
}

const WINDOW_SECONDS = 10;
const MIN_CALLS = 20;
const FAULT_SHARE = 0.5;
const FIRST_OPEN_MS = 5_000;
const MAX_OPEN_MS = 60_000;
/** An open breaker waits between 80 and 120 % of its time. */
const JITTER = 0.4;
/** A probe nobody reported on by now may never have been sent, for want of due work: another may go, one a second. */
const PROBE_PATIENCE_MS = 1_000;
const DOUBLING_MS = 1_000;
/** Above this many calls in flight the limit of the task types holds back, not the slow start. */
const FULL_ALLOWANCE = 1_024;

/** Calls and gateway faults of the last ten seconds, by second. */
class FaultWindow {
  readonly #calls = new Array<number>(WINDOW_SECONDS).fill(0);
  readonly #faults = new Array<number>(WINDOW_SECONDS).fill(0);
  #second = 0;

  add(second: number, fault: boolean): void {
    this.#forget(second);
    const slot = second % WINDOW_SECONDS;
    this.#calls[slot] = (this.#calls[slot] ?? 0) + 1;
    if (fault) this.#faults[slot] = (this.#faults[slot] ?? 0) + 1;
  }

  totals(): { readonly calls: number; readonly faults: number } {
    const sum = (a: number, b: number) => a + b;
    return { calls: this.#calls.reduce(sum), faults: this.#faults.reduce(sum) };
  }

  clear(): void {
    this.#calls.fill(0);
    this.#faults.fill(0);
  }

  #forget(second: number): void {
    if (second === this.#second) return;
    const gone = Math.min(WINDOW_SECONDS, second - this.#second);
    for (let age = 0; age < gone; age += 1) {
      const slot = (second - age) % WINDOW_SECONDS;
      this.#calls[slot] = 0;
      this.#faults[slot] = 0;
    }
    this.#second = second;
  }
}

/**
 * closed      Nothing is held back. When at least 20 calls were made in 10 s and half of them or more were gateway
 *             faults, it opens. Calls that say nothing about the gateway ('ignored') are not counted.
 * open        No call may start. The first time this lasts 5 s, and twice as long after every failed attempt to come
 *             back, up to 60 s; each time +- 20 %, so that instances do not probe in step. Then half open.
 * half_open   One call may start, the probe. A fault opens again, for longer. Success begins the slow start. A probe that
 *             told nothing is followed by another at once, one that is not reported on by another after 1 s.
 * slow_start  One call in flight is allowed, twice as many every second. The closed state's rule still applies over the
 *             calls since the probe: a gateway that breaks under the growing load opens the breaker again, for longer.
 *             At 1,024 it closes and the next opening starts from 5 s again.
 *
 * Late reports of calls started before the breaker opened are ignored while it is open. Those arriving in half_open are
 * taken for the probe's: a gateway that still times out is not back, and one that answers is.
 * Time moves the state only when somebody asks or reports, so there is no timer to stop.
 */
export class GatewayFlow implements FlowControl {
  #state: FlowState = 'closed';
  readonly #window = new FaultWindow();
  /** Failed attempts since the breaker was last closed. */
  #attempts = 0;
  #reopenAt = 0;
  #slowStartAt = 0;
  /** When the outstanding probe was granted; null when one may start. */
  #probeAt: number | null = null;

  constructor(private readonly deps: GatewayFlowDeps) {}

  get state(): FlowState {
    return this.#state;
  }

  allowance(inFlight: number): number {
    if (this.#state === 'closed') return Number.POSITIVE_INFINITY;
    const now = this.deps.clock.monotonic();
    this.#advance(now);
    switch (this.#state) {
      case 'open':
        return 0;
      case 'half_open':
        return this.#grantProbe(now);
      case 'slow_start':
        return Math.max(0, this.#slowStartLimit(now) - inFlight);
      default:
        return Number.POSITIVE_INFINITY;
    }
  }

  record(outcome: 'ok' | 'gateway_fault' | 'ignored'): void {
    const now = this.deps.clock.monotonic();
    if (this.#state !== 'closed') this.#advance(now);
    if (this.#state === 'open') return;
    if (this.#state === 'half_open') {
      this.#judgeProbe(outcome, now);
      return;
    }
    if (outcome === 'ignored') return;
    const fault = outcome === 'gateway_fault';
    this.#window.add(Math.floor(now / 1000), fault);
    if (fault) this.#openIfBroken(now);
  }

  #advance(now: number): void {
    if (this.#state === 'open' && now >= this.#reopenAt) {
      this.#probeAt = null;
      this.#change('half_open', 'time to probe');
    } else if (this.#state === 'slow_start' && this.#slowStartLimit(now) >= FULL_ALLOWANCE) {
      this.#attempts = 0;
      this.#change('closed', 'the gateway has recovered');
    }
  }

  #grantProbe(now: number): number {
    if (this.#probeAt !== null && now - this.#probeAt < PROBE_PATIENCE_MS) return 0;
    this.#probeAt = now;
    return 1;
  }

  #judgeProbe(outcome: 'ok' | 'gateway_fault' | 'ignored', now: number): void {
    if (outcome === 'ignored') this.#probeAt = null;
    else if (outcome === 'gateway_fault') this.#open(now, 'the probe failed');
    else {
      this.#slowStartAt = now;
      this.#window.clear();
      this.#change('slow_start', 'the probe succeeded');
    }
  }

  #openIfBroken(now: number): void {
    const { calls, faults } = this.#window.totals();
    if (calls >= MIN_CALLS && faults >= calls * FAULT_SHARE) {
      this.#open(now, `${faults} of ${calls} calls in ${WINDOW_SECONDS} s were gateway faults`);
    }
  }

  #open(now: number, reason: string): void {
    const nominalMs = Math.min(MAX_OPEN_MS, FIRST_OPEN_MS * 2 ** this.#attempts);
    const openMs = Math.round(nominalMs * (1 - JITTER / 2 + JITTER * this.deps.random()));
    this.#attempts += 1;
    this.#reopenAt = now + openMs;
    this.#window.clear();
    this.#change('open', `${reason}; next probe in ${openMs} ms`);
  }

  #slowStartLimit(now: number): number {
    return 2 ** Math.floor((now - this.#slowStartAt) / DOUBLING_MS);
  }

  #change(state: FlowState, reason: string): void {
    this.#state = state;
    this.deps.onChange(state, reason);
  }
}
