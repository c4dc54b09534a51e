// The checks of the fleet when both stores answer, whether or not an instance is alive. Used by examine.ts.
import { type Finding, ok, reasonFinding, skipped } from '../../domain/finding.ts';
import type { Offers } from '../../domain/gateway/offer.ts';
import type { RateLimit } from '../../domain/limits/rate-limit.ts';
import type { StopSettings } from '../../domain/stops/stop.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LiveStore } from '../../store/ports/live/live-store.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';
import { databaseOutagesOf } from '../health/database-outages.ts';
import type { Overview } from '../stats/stats-report.ts';
import { answered } from './finding.ts';
import { instanceFindings } from './instances.ts';
import { rateLimitFindings } from './rate-limits.ts';
import { ringSampleFindings } from './ring-sample.ts';
import { runningCountFindings } from './running-counts.ts';
import { stopModeFindings } from './stop-mode.ts';
import { type UpkeepSettings, upkeepFindings } from './upkeep.ts';

interface FleetFacts {
  readonly live: LiveStore;
  readonly records: RecordStore;
  readonly clock: Clock;
  readonly random: () => number;
  /** Waits as long as a changed card needs to reach its rings. */
  readonly settle: () => Promise<void>;
  readonly upkeep: UpkeepSettings;
  readonly stops: StopSettings;
  readonly rateLimits: readonly RateLimit[];
  readonly offers: Offers;
  /** null: the daemon reports the health of the fleet. */
  readonly overview: (() => Promise<Overview>) | null;
}

export async function fleetFindings(facts: FleetFacts): Promise<Finding[]> {
  const { live, records, clock, random, settle, upkeep, stops, rateLimits, offers } = facts;
  const progress = await live.coordination.initProgress();
  const instances = await live.coordination.instances();
  const isLed = databaseOutagesOf(instances)?.leaderless !== true;
  const groups = await Promise.all([
    Promise.resolve(instanceFindings(instances)),
    answered('running counts', () => runningCountFindings(live)),
    answered('cards in rings', () => ringSampleFindings({ live, records, isLed }, progress, random, settle)),
    answered('stop mode', () => stopModeFindings(records, stops)),
    answered('rate limits', () => rateLimitFindings(records, rateLimits, offers)),
    answered('alert rules', () => upkeepFindings(records, clock, upkeep)),
    answered('fleet', () => aliveFindings(facts, instances.length)),
  ]);
  return groups.flat();
}

/** The health of the fleet, read from its stores when no daemon answers. Skipped before the first start. */
async function aliveFindings({ overview, live }: FleetFacts, instances: number): Promise<Finding[]> {
  if (overview === null) return [];
  const { status, updatedAtMs } = await live.coordination.initProgress();
  if (instances === 0 && status === 'pending' && updatedAtMs === null) {
    return [skipped('fleet', 'no instance has polled yet')];
  }
  const found = (await overview()).healthReasons.map(reasonFinding);
  return found.length === 0 ? [ok('fleet', `${instances} instances alive, health normal`)] : found;
}
