// What an instance counted between two flushes, for tests that count only some of it.
import type { StatsDelta } from '../../src/store/ports/live/poll-stats.ts';

const NOTHING: StatsDelta = {
  succeeded: 0,
  failed: 0,
  durationMs: 0,
  backpressure: 0,
  timeouts: 0,
  succeededMs: 0,
  limitReached: 0,
  implausible: 0,
  counters: 0,
  fallen: 0,
  durations: {},
  reasons: {},
  carriers: new Map(),
  usageGrowth: {},
  byCarrier: new Map(),
};

export function statsDelta(counted: Partial<StatsDelta>): StatsDelta {
  return { ...NOTHING, ...counted };
}
