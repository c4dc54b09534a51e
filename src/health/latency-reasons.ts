// Reports a gateway, or one of its carriers, that is slower than usual: the current and the usual duration of a call, and whether
// less load would help. Used by health-reasons.ts. Pure.
import type { Durations } from '../domain/numbers.ts';
import type { SlowCarrier } from '../domain/results/carrier-polls.ts';
import { type Slowness, secondsWords, slownessWords } from '../domain/stats/usual-latency.ts';
import type { LimitRecord } from '../store/ports/live/work-queue.ts';
import type { Cause } from './reason.ts';

export interface LatencyInputs {
  /** null: the gateway is as fast as usual, or the usual duration is unknown. */
  readonly slowness: Slowness | null;
  /** Carriers that are slow while the others are as fast as usual, the slowest first. */
  readonly slowCarriers: readonly SlowCarrier[];
  /** Durations of the polls of the last seconds. */
  readonly durations: Durations;
  /** The leader's record of the limit; null: none yet. */
  readonly limit: Pick<LimitRecord, 'normalMs' | 'trying'> | null;
  readonly effectiveConcurrency: number;
  readonly maxConcurrency: number;
  /** More cards come due than are polled. */
  readonly grows: boolean;
}

/**
 * An alert if cards are polled less often than configured because of it: the promise is broken then. If the other carriers are as
 * fast as usual, they are the second witness, and the gateway is not named.
 */
export function latencyReasons(inputs: LatencyInputs): Cause[] {
  const { slowness, slowCarriers, durations, grows } = inputs;
  const severity = grows ? 'alert' : 'warning';
  const [slowest] = slowCarriers;
  if (slowest !== undefined) {
    const named = slowCarriers.slice(0, CARRIERS_NAMED).map(slowCarrierWords).join(', ');
    const text = `${named} a call, the others ${secondsWords(slowest.restMs)} as usual`;
    return [{ code: 'carrier_slow', severity, text, command: 'cardpoll doctor' }];
  }
  if (slowness === null) return [];
  const text = `the gateway ${slownessWords(slowness, durations)}: ${loadWords(slowness, inputs)}`;
  return [{ code: 'gateway_slow', severity, text, command: 'cardpoll doctor' }];
}

const CARRIERS_NAMED = 2;

function slowCarrierWords({ carrierId, meanMs }: SlowCarrier): string {
  return `carrier ${carrierId} takes ${secondsWords(meanMs)}`;
}

/** A latency up to this factor counts as the one that a trial found to be independent of our load. */
const AS_FOUND = 1.4;

function loadWords(
  { nowMs }: Slowness,
  { limit, effectiveConcurrency: effective, maxConcurrency: max }: LatencyInputs,
): string {
  const normalMs = limit?.normalMs ?? null;
  if (limit?.trying === true) return 'cardpoll is trying whether less load would help';
  if (normalMs !== null && nowMs <= AS_FOUND * normalMs) return 'less load would not help';
  if (effective < max) return `less load helps, so ${effective} of ${max} calls at a time are allowed`;
  return 'whether less load would help is not known';
}
