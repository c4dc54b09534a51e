import { TASK_TYPES } from '../../../../src/domain/task-type.ts';
import { type Fault, lasting } from '../../fault.ts';

export const clockOfStore: Fault = {
  name: 'clock of a store stepped',
  weight: 0.5,
  begin(world, draw) {
    const store = draw.oneOf(['live', 'records'] as const);
    const stepMs = draw.oneOf([-60_000, -5_000, 5_000, 60_000]);
    const step = (ms: number) => {
      world.skewMs[store] += ms;
      world.lastStep = world.time.now;
      // Leases end early then, as docs/runbook.md says, and nothing counts their calls.
      if (store === 'live' && ms > 0) for (const type of TASK_TYPES) world.forgive(type);
    };
    step(stepMs);
    lasting(world, draw.between(20_000, 120_000), () => step(-stepMs));
    return `the clock of the ${store} store is set by ${stepMs} ms`;
  },
};
