// How much the gateway can take just now: a breaker for every interface, and one for the whole gateway, per instance.
// Workers ask before they claim; the guarded gateway (guarded-gateway.ts) reports every call. It neither calls the
// gateway nor pauses the fleet (429 and 503 do that, through the live store).

import type { BreakerReport } from '../domain/breaker.ts';
import { perInterface, WHOLE_GATEWAY } from '../domain/gateway-interface.ts';
import { Breaker, type BreakerDeps, type BreakerPhase, NONE } from './breaker.ts';
import {
  type FlowControl,
  type GatewayError,
  INTERFACE_NAMES,
  type InterfaceName,
  type Permit,
} from './gateway.ts';

interface GatewayFlowDeps extends Omit<BreakerDeps, 'onChange'> {
  /** Told about every change of a breaker, for the log. @param name of the interface, or `gateway` */
  readonly onChange: (
    name: InterfaceName | typeof WHOLE_GATEWAY,
    phase: BreakerPhase,
    reason: string,
  ) => void;
}

/**
 * Faults in making a connection or in proving who we are (connect, auth) concern the whole gateway, but only when they
 * make up half of the calls of every interface that was called: a gateway may refuse our credentials for one. Until
 * then they count, as every other fault does, for the interface that was called. When the gateway's breaker opens it
 * takes over: the interfaces' are closed, and none counts such faults until it has closed again.
 */
export class GatewayFlow implements FlowControl {
  readonly #gateway: Breaker;
  readonly #interfaces: Readonly<Record<InterfaceName, Breaker>>;

  constructor(deps: GatewayFlowDeps) {
    const breaker = (name: InterfaceName) =>
      new Breaker({ ...deps, onChange: (phase, reason) => deps.onChange(name, phase, reason) });
    this.#interfaces = perInterface(breaker);
    this.#gateway = new Breaker({
      ...deps,
      onChange: (phase, reason) => {
        deps.onChange(WHOLE_GATEWAY, phase, reason);
        if (phase === 'open') this.#takeOver();
      },
    });
  }

  permit(interfaceName: InterfaceName, load: { inFlight: number; totalInFlight: number }): Permit {
    const wide = this.#gateway.permit(load.totalInFlight);
    if (wide.calls === 0) return NONE;
    const own = this.#interfaces[interfaceName].permit(load.inFlight);
    if (own.calls === 0) {
      wide.used(null);
      return NONE;
    }
    return {
      calls: Math.min(wide.calls, own.calls),
      retries: wide.retries && own.retries,
      used: (items) => {
        wide.used(items);
        own.used(items);
      },
    };
  }

  /** Whether one call that follows from a poll (stop, start) may begin now. */
  admit(interfaceName: InterfaceName, inFlight: number): boolean {
    return this.#interfaces[interfaceName].admit(inFlight);
  }

  /** @param error null: the call succeeded. @param failing the card's last poll failed too */
  record(interfaceName: InterfaceName, error: GatewayError | null, failing: boolean): void {
    if (error?.failure === 'aborted') {
      this.#gateway.record(interfaceName, 'nothing', failing);
      this.#interfaces[interfaceName].record(interfaceName, 'nothing', failing);
      return;
    }
    const wideFault = error?.isGatewayWide ?? false;
    const said = error?.message ?? null;
    this.#gateway.record(interfaceName, wideFault ? 'fault' : 'ok', failing, wideFault ? said : null);
    if (wideFault && this.#gateway.phase !== 'closed') return;
    const fault = error?.isGatewayFault ?? false;
    this.#interfaces[interfaceName].record(
      interfaceName,
      fault ? 'fault' : 'ok',
      failing,
      fault ? said : null,
    );
  }

  breakers(): BreakerReport[] {
    return [
      this.#gateway.report(WHOLE_GATEWAY),
      ...INTERFACE_NAMES.map((name) => this.#interfaces[name].report(name)),
    ];
  }

  #takeOver(): void {
    for (const name of INTERFACE_NAMES) this.#interfaces[name].reset('the whole gateway is out of reach');
  }
}
