// Three daemons that have more to poll than the gateway allows, and a gateway that notes when each call arrives. Used by the
// e2e and the long test of the pace.
import { perInterface } from '../../src/domain/gateway-interface.ts';
import { defaultBurst } from '../../src/domain/limits/rate-limit.ts';
import { Fleet } from './fleet.ts';
import { GrantRecord } from './grant-record.ts';
import { waitFor } from './processes.ts';
import { healthy, type ScriptedGateway, startScriptedGateway } from './scripted-gateway.ts';

export const CALLS_PER_SECOND = 50;
/** As the gateway counts: calls per millisecond, and the burst. */
export const ALLOWED = {
  perMs: CALLS_PER_SECOND / 1_000,
  capacity: defaultBurst(CALLS_PER_SECOND),
  lifeMs: 0,
};
const CARDS = 600;
const INTERVAL_SECONDS = 5;
const DAEMONS = 3;

export class PacedFleet {
  /** The calls that arrived since the last `forget()`, by interface. */
  record = new GrantRecord();

  private constructor(
    readonly fleet: Fleet,
    readonly gateway: ScriptedGateway,
    private readonly pulse: NodeJS.Timeout,
  ) {}

  static async start(): Promise<PacedFleet> {
    // A call that is noticed after a stall of this process may have arrived at any time since the loop was last alive.
    let aliveAt = performance.now();
    const pulse = setInterval(() => {
      aliveAt = performance.now();
    }, 1);
    let arrived = (_name: string, _from: number, _to: number): void => {};
    const gateway = await startScriptedGateway((call) => {
      arrived(call.interfaceName, aliveAt, performance.now());
      return { ...healthy(call), delayMs: 20 };
    });
    const fleet = await Fleet.start({
      gatewayUrl: gateway.url,
      env: { CARDPOLL_GATEWAY_RATE_LIMIT_PER_SECOND: String(CALLS_PER_SECOND) },
    });
    const paced = new PacedFleet(fleet, gateway, pulse);
    arrived = (name, from, to) => paced.record.add(name, 1, from, to);
    for (let i = 0; i < DAEMONS; i += 1) await fleet.startDaemon();
    await fleet.setIntervals(INTERVAL_SECONDS);
    await fleet.importCards(CARDS);
    await paced.polling();
    return paced;
  }

  forget(): void {
    this.record = new GrantRecord();
  }

  /** Waits until the gateway is called for every type, a second's worth in all. */
  async polling(): Promise<void> {
    const before = { ...this.gateway.calls };
    const since = () => perInterface((name) => this.gateway.calls[name] - before[name]);
    await waitFor(
      () => {
        const { realname, flow, card_status } = since();
        return Math.min(realname, flow, card_status) > CALLS_PER_SECOND / 3;
      },
      { what: 'cards to be polled for every type' },
    );
  }

  /** Waits until so many calls have arrived since the last `forget()`. */
  async called(calls: number): Promise<void> {
    await waitFor(() => this.record.total >= calls, { what: `${calls} calls at the gateway` });
  }

  async close(): Promise<void> {
    clearInterval(this.pulse);
    this.fleet.close();
    await this.gateway.close();
  }
}
