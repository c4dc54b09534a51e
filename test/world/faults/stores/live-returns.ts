import { type Fault, lasting } from '../../fault.ts';

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
    const awayMs = draw.chance(0.3) ? draw.between(5_000, 40_000) : 0;
    const goBack = await world.keepLiveData();
    lasting(world, ms, () => {
      const cut = awayMs > 0 && world.calmSince === null ? [...world.alive] : [];
      for (const { ways } of cut) ways.live.isCut = true;
      const back = () => {
        goBack();
        world.tell('world', `the live store is as it was ${ms} ms ago`);
        for (const { ways } of cut) ways.live.isCut = false;
      };
      if (cut.length > 0) lasting(world, awayMs, back);
      else back();
    });
    return `the live store will be as it is now in ${ms} ms${awayMs > 0 ? `, and away for ${awayMs} ms before` : ''}`;
  },
};
