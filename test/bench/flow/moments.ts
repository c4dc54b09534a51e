// Scenarios of the flow bench in which it is the moment that decides whether a call fails: `alternating` (every second
// second is bad), `late` (every answer comes when nobody waits for it any more), `first-call` (the first call of every
// connection is refused) and `healing` (failing cards recover one by one, while it is measured).
import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowOptions } from './options.ts';
import {
  allowedCalls,
  BACK,
  BACK_WITHIN_MS,
  MEASURE_MS,
  type Row,
  type Run,
  ratesOf,
  rowOf,
  SETTLE_MS,
} from './row.ts';
import { POLLED, type Rates, TroubledFleet } from './troubled-fleet.ts';
import type { Trouble } from './troubled-gateway.ts';
import { badSeconds, failingFirstCalls, healingCards } from './troubles.ts';

interface Moment {
  readonly name: string;
  /** Made for each run. */
  readonly trouble: () => Trouble;
  readonly judge: (name: string, fleet: TroubledFleet, during: Rates) => Row;
  /** Whether it is of interest when the gateway's pace is back, once the trouble is over. */
  readonly watchesReturn: boolean;
}

const HEALING_SHARE = 0.3;
const HEALING = { fromMs: SETTLE_MS, toMs: SETTLE_MS + MEASURE_MS };

const MOMENTS = {
  alternating: {
    name: 'alternating seconds of 503',
    trouble: () => badSeconds('503'),
    judge: (name, fleet, during) => rowOf(name, fleet, during, 0.5),
    watchesReturn: true,
  },
  late: {
    name: 'late, every answer',
    trouble: () => () => 'late',
    judge: judgeSilence,
    watchesReturn: true,
  },
  'first-call': {
    name: 'first-call 503',
    trouble: () => failingFirstCalls('503'),
    judge: (name, fleet, during) => rowOf(name, fleet, during, 1),
    watchesReturn: false,
  },
  healing: {
    name: 'healing, 30 % of the cards',
    trouble: () => healingCards(HEALING_SHARE, '500', HEALING),
    // While it is measured half of the failing ones have healed, on average.
    judge: (name, fleet, during) => rowOf(name, fleet, during, 1 - HEALING_SHARE / 2),
    watchesReturn: true,
  },
} as const satisfies Record<string, Moment>;

export function momentRuns(which: keyof typeof MOMENTS, options: FlowOptions): Run[] {
  const moment: Moment = MOMENTS[which];
  const measure = () =>
    TroubledFleet.run(options, {}, async (fleet) => {
      fleet.gateway.begin(moment.trouble());
      await sleep(SETTLE_MS);
      const row = moment.judge(moment.name, fleet, await fleet.rates(MEASURE_MS));
      if (!moment.watchesReturn) return row;
      fleet.gateway.heal();
      const backAfter = await fleet.secondsUntilBack(POLLED, BACK, BACK_WITHIN_MS);
      return { ...row, more: { ...row.more, 'seconds until back': backAfter } };
    });
  return [{ name: moment.name, measure }];
}

/** No call can succeed: few are to be made. */
function judgeSilence(name: string, fleet: TroubledFleet, during: Rates): Row {
  const rates = ratesOf(fleet, during);
  const allowed = allowedCalls(fleet.before, POLLED);
  return {
    name,
    ...rates,
    ratio: null,
    worst: null,
    more: {},
    goal: `${allowed.toFixed(1)} calls/s`,
    met: rates.calls <= allowed,
  };
}
