// Scenario `random` of the flow bench: any call fails with a small probability, whatever the load, at limits that are
// nearly used; with and without an incident just before, in which nearly a third of the calls are refused for ten seconds.
import { setTimeout as sleep } from 'node:timers/promises';
import { chosen, type FlowOptions } from './options.ts';
import { MEASURE_MS, type Run, rowOf, SETTLE_MS } from './row.ts';
import { type SetUp, TroubledFleet } from './troubled-fleet.ts';
import { type FailureKind, failingByChance } from './troubles.ts';

const KINDS: readonly FailureKind[] = ['500', '503'];
const SHARES = [0.1, 0.5, 2, 10, 30];
const QUICK_SHARE = 0.5;
const QUICK_LIMIT = 200;
const INCIDENT_SHARE = 0.3;
const INCIDENT_MS = 10_000;

/** Calls in flight of a task type: 18 of 20, 133 of 200, 667 of 2,000 (more demand is more than two cores bear). */
const SET_UPS: ReadonlyMap<number, SetUp> = new Map(
  [
    { cards: 5_400, intervalSeconds: 30, limit: 20, latencyMs: 100 },
    { cards: 20_000, intervalSeconds: 30, limit: 200, latencyMs: 200 },
    { cards: 20_000, intervalSeconds: 30, limit: 2_000, latencyMs: 1_000 },
  ].map((setUp) => [setUp.limit, setUp]),
);

export function randomRuns(options: FlowOptions): Run[] {
  const { quick } = options;
  const runs: Run[] = [];
  for (const limit of chosen([...SET_UPS.keys()], options.limits, quick ? QUICK_LIMIT : null)) {
    for (const kind of chosen<string>(KINDS, options.kinds)) {
      for (const share of chosen(SHARES, options.shares, quick ? QUICK_SHARE : null)) {
        for (const incident of quick ? [false] : [false, true]) {
          runs.push(runOf(options, { limit, kind: kind as FailureKind, share, incident }));
        }
      }
    }
  }
  return runs;
}

function runOf(
  options: FlowOptions,
  { limit, kind, share, incident }: { limit: number; kind: FailureKind; share: number; incident: boolean },
): Run {
  const name = `random ${kind} ${share} % limit ${limit}${incident ? ' after an incident' : ''}`;
  const measure = () =>
    TroubledFleet.run(options, SET_UPS.get(limit) ?? {}, async (fleet) => {
      if (incident) {
        fleet.gateway.begin(failingByChance(INCIDENT_SHARE, '503'));
        await sleep(INCIDENT_MS);
      }
      fleet.gateway.begin(failingByChance(share / 100, kind));
      await sleep(SETTLE_MS);
      return rowOf(name, fleet, await fleet.rates(MEASURE_MS), 1 - share / 100);
    });
  return { name, measure };
}
