// The gateway as the engine's tasks see it: every call is reported to flow control, for the interface that was called,
// and calls that follow from a poll (stop, start) are held back while the breaker of their interface is open. Calls that
// begin a poll were permitted before their card was claimed. Opened by wiring around the client.
import { TASK_TYPES, TASKS } from '../domain/task-type.ts';
import type { GatewayFlow } from './flow-control.ts';
import {
  type CalledCard,
  type Gateway,
  type GatewayAnswer,
  GatewayError,
  type InterfaceName,
} from './gateway.ts';

/** Workers have a permit for the interfaces that polls begin with; others are asked for at the call. */
const PERMITTED: ReadonlySet<InterfaceName> = new Set(
  TASK_TYPES.map((taskType) => TASKS[taskType].interface),
);

export class GuardedGateway implements Gateway {
  /** Calls in flight to the interfaces that are asked for at the call. */
  readonly #inFlight = new Map<InterfaceName, number>();

  constructor(
    private readonly gateway: Gateway,
    private readonly flow: GatewayFlow,
  ) {}

  async call(interfaceName: InterfaceName, card: CalledCard, timeoutMs: number): Promise<GatewayAnswer> {
    if (PERMITTED.has(interfaceName)) return this.#reported(interfaceName, card, timeoutMs);
    const inFlight = this.#inFlight.get(interfaceName) ?? 0;
    if (!this.flow.admit(interfaceName, inFlight)) {
      throw new GatewayError('held', `calls to ${interfaceName} are held back: it fails at the gateway`, {
        interfaceName,
      });
    }
    this.#inFlight.set(interfaceName, inFlight + 1);
    try {
      return await this.#reported(interfaceName, card, timeoutMs);
    } finally {
      this.#inFlight.set(interfaceName, (this.#inFlight.get(interfaceName) ?? 1) - 1);
    }
  }

  isStoppedStatus(cardStatus: string): boolean {
    return this.gateway.isStoppedStatus(cardStatus);
  }

  async #reported(interfaceName: InterfaceName, card: CalledCard, timeoutMs: number): Promise<GatewayAnswer> {
    const failing = card.failing ?? false;
    try {
      const answer = await this.gateway.call(interfaceName, card, timeoutMs);
      this.flow.record(interfaceName, null, failing);
      return answer;
    } catch (error) {
      if (error instanceof GatewayError) this.flow.record(interfaceName, error, failing);
      throw error;
    }
  }
}
