// What the last ten seconds of calls say about the gateway: the calls and faults of each interface, by second. Used by
// breakers; decides nothing but whether a share is reached.
import { FaultWindow, WINDOW_SECONDS } from './fault-window.ts';
import type { InterfaceName } from './gateway.ts';

const MIN_CALLS = 20;
const FAULT_SHARE = 0.5;
/** Nothing but faults, after many successes: a short interval's cards have all failed before half of the window has. */
const FAULTS_IN_A_ROW = 20;

export class Evidence {
  readonly #windows = new Map<InterfaceName, FaultWindow>();

  add(interfaceName: InterfaceName, nowMs: number, fault: boolean): void {
    let window = this.#windows.get(interfaceName);
    if (window === undefined) {
      window = new FaultWindow();
      this.#windows.set(interfaceName, window);
    }
    window.add(nowMs, fault);
  }

  /**
   * Says why the gateway is broken, or null: at least 20 calls in 10 s of which half or more, or the last 20, were faults,
   * and that of the calls of every interface that was called. One broken interface among working ones is not enough.
   */
  verdict(nowMs: number): string | null {
    let [calls, faults] = [0, 0];
    for (const window of this.#windows.values()) {
      const totals = window.totals(nowMs);
      if (totals.faults < totals.calls * FAULT_SHARE && totals.inARow < FAULTS_IN_A_ROW) return null;
      calls += totals.calls;
      faults += totals.faults;
    }
    return calls < MIN_CALLS
      ? null
      : `${faults} of ${calls} calls in ${WINDOW_SECONDS} s were gateway faults`;
  }

  clear(): void {
    this.#windows.clear();
  }
}
