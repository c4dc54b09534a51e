// Three daemons that have more to poll than the gateway allows, and a gateway that notes when each call arrives. Used by the
// e2e and the long test of the pace.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { perInterface } from '../../src/domain/gateway-interface.ts';
import type { PaceBucket } from '../../src/domain/limits/rate-limit.ts';
import { Fleet } from './fleet.ts';
import { GrantRecord } from './grant-record.ts';
import { waitFor } from './processes.ts';
import { healthy, type ScriptedGateway, startScriptedGateway } from './scripted-gateway.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** What the gateway allows. */
export interface AllowedCalls {
  readonly perSecond: number;
  readonly burst: number;
}

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
    private readonly calls: AllowedCalls,
  ) {}

  static async start(allowed: AllowedCalls): Promise<PacedFleet> {
    // A call that is noticed after a stall of this process may have arrived at any time since the loop last looked: before the
    // latest beat, because timers that are due come before sockets.
    let beats: readonly [before: number, latest: number] = [performance.now(), performance.now()];
    const pulse = setInterval(() => {
      beats = [beats[1], performance.now()];
    }, 1);
    let arrived = (_name: string, _from: number, _to: number): void => {};
    const gateway = await startScriptedGateway((call) => {
      arrived(call.interfaceName, beats[0], performance.now());
      return { ...healthy(call), delayMs: 20 };
    });
    const config = join(temporaryDirectory('paced'), 'cardpoll.yaml');
    const { perSecond, burst } = allowed;
    const yaml = `gateway:\n  rate_limits:\n    - { per_second: ${perSecond}, burst: ${burst} }\n`;
    writeFileSync(config, yaml, { mode: 0o600 });
    const fleet = await Fleet.start({
      gatewayUrl: gateway.url,
      env: { CARDPOLL_CONFIG: config },
    });
    const paced = new PacedFleet(fleet, gateway, pulse, allowed);
    arrived = (name, from, to) => paced.record.add(name, 1, from, to);
    await fleet.startDaemon();
    await fleet.setIntervals(INTERVAL_SECONDS);
    await fleet.importCards(CARDS);
    for (let i = 1; i < DAEMONS; i += 1) await fleet.startDaemon();
    await paced.polling();
    return paced;
  }

  /** As the gateway counts. */
  get allowed(): PaceBucket {
    return { perMs: this.calls.perSecond / 1_000, capacity: this.calls.burst, lifeMs: 0 };
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
        return Math.min(realname, flow, card_status) > this.calls.perSecond / 3;
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
