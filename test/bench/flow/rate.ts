// Scenario `rate` of the flow bench: the gateway allows a rate over all interfaces, far below what comes due, and answers
// 429 beyond it. The rate is to be used, and no task type is to starve.
import { setTimeout as sleep } from 'node:timers/promises';
import { chosen, type FlowOptions } from './options.ts';
import { GOAL_RATIO, type Run, ratesOf, SETTLE_MS } from './row.ts';
import { POLLED, sumOf, TroubledFleet } from './troubled-fleet.ts';
import { allowedRate, type FailureKind } from './troubles.ts';

const KINDS: readonly FailureKind[] = ['429', '429-second'];
const CALLS_PER_SECOND = 20;
const MEASURE_RATE_MS = 60_000;
/** Of its fair third. */
const GOAL_SHARE = 0.5;

export function rateRuns(options: FlowOptions): Run[] {
  return chosen<string>(KINDS, options.kinds).map((kind) => runOf(options, kind as FailureKind));
}

function runOf(options: FlowOptions, kind: FailureKind): Run {
  const name = `rate ${CALLS_PER_SECOND}/s ${kind}`;
  const measure = () =>
    TroubledFleet.run(options, {}, async (fleet) => {
      fleet.gateway.begin(allowedRate(CALLS_PER_SECOND, kind));
      await sleep(SETTLE_MS);
      const during = await fleet.rates(MEASURE_RATE_MS);
      const ratio = sumOf(during.good) / CALLS_PER_SECOND;
      const fairThird = sumOf(during.good) / POLLED.length;
      const least = fairThird === 0 ? 0 : Math.min(...during.good.values()) / fairThird;
      return {
        name,
        ...ratesOf(fleet, during),
        ratio,
        worst: ratio * least,
        more: { 'least of a third': least },
        goal: `ratio ${GOAL_RATIO}, ${GOAL_SHARE} of a third each`,
        met: ratio >= GOAL_RATIO && least >= GOAL_SHARE,
      };
    });
  return { name, measure };
}
