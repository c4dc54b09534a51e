// The gateway with a meter: every call that was made is timed, for its interface. Opened by wiring around the client, so
// that calls a breaker held back are not among them.
import type { Clock } from '../platform/clock.ts';
import type { Meter, Result } from '../platform/meter.ts';
import type { CalledCard, Gateway, GatewayAnswer, InterfaceName } from './gateway.ts';

export class MeteredGateway implements Gateway {
  constructor(
    private readonly gateway: Gateway,
    private readonly meter: Pick<Meter, 'gatewayCall'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  async call(interfaceName: InterfaceName, card: CalledCard, timeoutMs: number): Promise<GatewayAnswer> {
    const startedMs = this.clock.monotonic();
    let result: Result = 'failed';
    try {
      const answer = await this.gateway.call(interfaceName, card, timeoutMs);
      result = 'succeeded';
      return answer;
    } finally {
      this.meter.gatewayCall(interfaceName, result, this.clock.monotonic() - startedMs);
    }
  }

  isStoppedStatus(cardStatus: string): boolean {
    return this.gateway.isStoppedStatus(cardStatus);
  }
}
