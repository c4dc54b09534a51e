import { type Fault, lasting } from '../../fault.ts';

export const clockOfStore: Fault = {
  name: 'clock of a store stepped',
  weight: 0.5,
  begin(world, draw) {
    const store = draw.oneOf(['live', 'records'] as const);
    const stepMs = draw.oneOf([-60_000, -5_000, 5_000, 60_000]);
    world.skewMs[store] += stepMs;
    world.lastStep = world.time.now;
    lasting(world, draw.between(20_000, 120_000), () => {
      world.skewMs[store] -= stepMs;
      world.lastStep = world.time.now;
    });
    return `the clock of the ${store} store is set by ${stepMs} ms`;
  },
};
