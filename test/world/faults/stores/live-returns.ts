import { type Fault, lasting } from '../../fault.ts';
import type { Random } from '../../virtual/random.ts';
import type { World } from '../../world.ts';

/** As when a replica takes over that was behind, or a copy of an earlier hour is put back. */
export const liveReturns: Fault = {
  name: 'live data back in time',
  weight: 2,
  only: 'redis',
  async begin(world, draw) {
    const ms = draw.oneOf([
      draw.between(200, 5_000),
      draw.between(5_000, 60_000),
      draw.between(60_000, 600_000),
    ]);
    const awayMs = drawnAwayMs(draw);
    const goBack = await world.keepLiveData();
    lasting(world, ms, () =>
      afterAway(world, awayMs, () => {
        goBack();
        world.tell('world', `the live store is as it was ${ms} ms ago`);
      }),
    );
    return `the live store will be as it is now in ${ms} ms${awayWords(awayMs)}`;
  },
};

/** As when the copy of the day before is put back: its leases, its schedule and its counts are of then. */
export const liveOfYesterday: Fault = {
  name: 'live data of a day ago',
  only: 'redis',
  begin(world, draw) {
    const { yesterday } = world;
    if (yesterday === null) throw new Error('the night has no live data of the day before');
    const ms = draw.between(200, 5_000);
    const awayMs = drawnAwayMs(draw);
    lasting(world, ms, () =>
      afterAway(world, awayMs, () => {
        world.goBackTo(yesterday);
        world.tell('world', 'the live store is as it was a day ago');
      }),
    );
    return `the live store will be as it was a day ago in ${ms} ms${awayWords(awayMs)}`;
  },
};

function drawnAwayMs(draw: Random): number {
  return draw.chance(0.3) ? draw.between(5_000, 40_000) : 0;
}

function awayWords(awayMs: number): string {
  return awayMs > 0 ? `, and away for ${awayMs} ms before` : '';
}

/** The live store is away for so long, unless all faults have ended. */
function afterAway(world: World, awayMs: number, goBack: () => void): void {
  const cut = awayMs > 0 && world.calmSince === null ? [...world.alive] : [];
  for (const { ways } of cut) ways.live.isCut = true;
  const back = () => {
    goBack();
    for (const { ways } of cut) ways.live.isCut = false;
  };
  if (cut.length > 0) lasting(world, awayMs, back);
  else back();
}
