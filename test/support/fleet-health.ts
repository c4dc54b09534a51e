// The judge over the stores of a test, and one for engines whose health is no matter of the test.
import type { StopSettings } from '../../src/domain/stops/stop.ts';
import { perTaskType } from '../../src/domain/task-type.ts';
import { FleetHealth } from '../../src/health/fleet-health.ts';
import type { Presence } from '../../src/health/presence.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { LiveStore } from '../../src/store/ports/live/live-store.ts';
import type { RecordStore } from '../../src/store/ports/records/record-store.ts';
import { DEFAULT_STOPS } from './stop-rules.ts';

export function fleetHealth(
  stores: { readonly live: LiveStore; readonly records: RecordStore },
  clock: Clock,
  stops: StopSettings = DEFAULT_STOPS,
  presence: Presence | null = null,
): FleetHealth {
  return new FleetHealth({ ...stores, clock, cardsPerCall: () => 1, initPauseMs: 0, stops, presence });
}

export const UNJUDGED = {
  conditions: async () =>
    perTaskType(() => ({ reasons: [], breakerOpenSeconds: 0, pausedByOperator: false })),
  brokenPromise: async () => null,
};
