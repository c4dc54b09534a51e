// Detects after a few calls how calls fail to reach the gateway; a breaker takes ten seconds. Used by flow-control.ts.
import { type FaultKind, faultWords, type GatewayFault } from '../../domain/gateway-fault.ts';
import type { Clock } from '../../platform/clock.ts';
import type { GatewayError } from '../gateway.ts';

/** A single call may fail by chance. */
const LEAST_CALLS = 3;
const LATELY_MS = 10_000;

export class FaultWatch {
  #kind: FaultKind | null = null;
  #text = '';
  /** Times of the last failures of that kind, the latest last. */
  #failedAt: readonly number[] = [];

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  note({ kind, message }: Pick<GatewayError, 'kind' | 'message'>): void {
    if (faultWords(kind) === null) return;
    const before = kind === this.#kind ? this.#failedAt : [];
    this.#kind = kind;
    this.#text = message;
    this.#failedAt = [...before, this.clock.monotonic()].slice(-LEAST_CALLS);
  }

  /** null: calls reach the gateway, or none was made recently. */
  get present(): GatewayFault | null {
    const [first] = this.#failedAt;
    const isMany = this.#failedAt.length === LEAST_CALLS;
    if (this.#kind === null || first === undefined || !isMany) return null;
    if (this.clock.monotonic() - first > LATELY_MS) return null;
    return { kind: this.#kind, text: this.#text };
  }
}
