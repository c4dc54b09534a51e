// Scenario `cards` of the flow bench: some of the cards fail always, in every interface; the others are to be polled as
// before. The ids of the failing cards follow each other, as those of one delivery do, so that they are polled one after
// another. Three variants with HTTP 500: `carrier`, all cards of three carriers in ten, `scattered`, cards all over the
// fleet, and `halfway`, which begins half-way through a revolution of the rings.
import { setTimeout as sleep } from 'node:timers/promises';
import { chosen, type FlowOptions } from './options.ts';
import { MEASURE_MS, type Run, rowOf, SETTLE_MS } from './row.ts';
import { CARDS, carrierOf, TroubledFleet } from './troubled-fleet.ts';
import type { Trouble } from './troubled-gateway.ts';
import { type FailureKind, failingCards, isScattered } from './troubles.ts';

const KINDS: readonly FailureKind[] = ['500', 'business', 'hang', '429', '429-day'];
const VARIANTS = ['carrier', 'scattered', 'halfway'] as const;
const SHARES = [5, 10, 20, 30, 50, 70];
const QUICK_SHARE = 20;
const VARIANT_SHARE = 30;
const FAILING_CARRIERS = 3;

export function cardRuns(options: FlowOptions): Run[] {
  const shares = chosen(SHARES, options.shares, options.quick ? QUICK_SHARE : null);
  const runs = chosen<string>(KINDS, options.kinds).flatMap((kind) =>
    shares.map((share) =>
      runOf(
        options,
        `cards ${kind} ${share} %`,
        share,
        failingCards(isAmongFirst(share), kind as FailureKind),
      ),
    ),
  );
  const fails = {
    carrier: (cardId: number) => carrierOf(cardId) <= FAILING_CARRIERS,
    scattered: isScattered(VARIANT_SHARE / 100),
    halfway: isAmongFirst(VARIANT_SHARE),
  };
  const variants = chosen<string>(VARIANTS, options.kinds).map((variant) =>
    runOf(
      options,
      `cards ${variant} 500 ${VARIANT_SHARE} %`,
      VARIANT_SHARE,
      failingCards(fails[variant as keyof typeof fails], '500'),
      variant === 'halfway',
    ),
  );
  return [...runs, ...variants];
}

function isAmongFirst(share: number): (cardId: number) => boolean {
  return (cardId) => cardId <= (share / 100) * CARDS;
}

function runOf(options: FlowOptions, name: string, share: number, trouble: Trouble, halfway = false): Run {
  const measure = () =>
    TroubledFleet.run(options, {}, async (fleet) => {
      if (halfway) await fleet.halfRevolution();
      fleet.gateway.begin(trouble);
      await sleep(SETTLE_MS);
      return rowOf(name, fleet, await fleet.rates(MEASURE_MS), 1 - share / 100);
    });
  return { name, measure };
}
