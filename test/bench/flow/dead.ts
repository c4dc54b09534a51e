// Scenario `dead` of the flow bench: one interface fails for all cards. It is to be left alone but for a call now and
// then, the others are to be polled as before, and once it is healed it is to be polled again.
import { setTimeout as sleep } from 'node:timers/promises';
import type { InterfaceName } from '../../../src/domain/gateway-interface.ts';
import { chosen, type FlowOptions } from './options.ts';
import {
  allowedCalls,
  BACK,
  BACK_WITHIN_MS,
  GOAL_RATIO,
  MEASURE_MS,
  type Run,
  ratesOf,
  ratiosOf,
  SETTLE_MS,
} from './row.ts';
import { POLLED, TroubledFleet } from './troubled-fleet.ts';
import { deadInterface, type FailureKind } from './troubles.ts';

const KINDS: readonly FailureKind[] = ['500', 'reset', 'hang', '503', '429-seconds'];
const DEAD: InterfaceName = 'flow';

export function deadRuns(options: FlowOptions): Run[] {
  return chosen<string>(KINDS, options.kinds).map((kind) => runOf(options, kind as FailureKind));
}

function runOf(options: FlowOptions, kind: FailureKind): Run {
  const name = `dead ${kind}`;
  const others = POLLED.filter((polled) => polled !== DEAD);
  const measure = () =>
    TroubledFleet.run(options, {}, async (fleet) => {
      fleet.gateway.begin(deadInterface(DEAD, kind));
      await sleep(SETTLE_MS);
      const during = await fleet.rates(MEASURE_MS);
      fleet.gateway.heal();
      const backAfter = await fleet.secondsUntilBack([DEAD], BACK, BACK_WITHIN_MS);
      const ratios = ratiosOf(fleet, during, others, 1);
      const deadCalls = during.calls.get(DEAD) ?? 0;
      const allowed = allowedCalls(fleet.before, [DEAD]);
      return {
        name,
        ...ratesOf(fleet, during),
        ...ratios,
        more: { 'calls to the dead': deadCalls, 'seconds until back': backAfter },
        goal: `others' ratio ${GOAL_RATIO}, ${allowed.toFixed(1)} calls/s to the dead`,
        met: ratios.ratio >= GOAL_RATIO && deadCalls <= allowed,
      };
    });
  return { name, measure };
}
