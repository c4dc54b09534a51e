import { type Fault, lasting, namesOf, someInstances } from '../../fault.ts';

export const slowWay: Fault = {
  name: 'store slow',
  begin(world, draw) {
    const store = draw.oneOf(['live', 'records'] as const);
    const instances = someInstances(world, draw);
    const ms = draw.between(5_000, 60_000);
    const delayMs = draw.oneOf([5, 50, 500, 2_000]);
    for (const { ways } of instances) ways[store].delayMs = delayMs;
    lasting(world, ms, () => {
      for (const { ways } of instances) ways[store].delayMs = 0;
    });
    return `the ${store} store answers ${namesOf(instances)} up to ${delayMs} ms late, for ${ms} ms`;
  },
};
