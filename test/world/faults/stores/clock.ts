import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { type Fault, lasting, type OwnFault } from '../../fault.ts';

export const clockOfStore: Fault = {
  name: 'clock of a store stepped',
  weight: 0.5,
  begin(world, draw) {
    const store = draw.oneOf(['live', 'records'] as const);
    const stepMs = draw.oneOf([-60_000, -5_000, 5_000, 60_000]);
    const step = (ms: number) => {
      world.skewMs[store] += ms;
      world.lastStep = world.time.now;
      if (store === 'records') world.lastRecordsStep = world.time.now;
      // Leases end early then, as docs/runbook.md says, and nothing counts their calls.
      if (store === 'live' && ms > 0) for (const type of TASK_TYPES) world.forgive(type);
    };
    step(stepMs);
    lasting(world, draw.between(20_000, 120_000), () => step(-stepMs));
    return `the clock of the ${store} store is set by ${stepMs} ms`;
  },
};

/** Longer than readings of one card are apart, so that some are dated before the ones that they follow. */
export const liveClockBehind: OwnFault = {
  name: 'clock of the live store behind',
  share: 0.25,
  most: 1,
  begin(world, draw) {
    const ms = draw.between(30_000, 200_000);
    const behindMs = draw.oneOf([20_000, 60_000, 3_600_000]);
    const step = (by: number) => {
      world.skewMs.live += by;
      world.lastStep = world.time.now;
      if (by > 0) for (const type of TASK_TYPES) world.forgive(type);
    };
    step(-behindMs);
    lasting(world, ms, () => step(behindMs));
    return `by ${behindMs} ms, for ${ms} ms`;
  },
};
