import { type Fault, lasting, namesOf, someInstances } from '../../fault.ts';

export const cut: Fault = {
  name: 'store away',
  begin(world, draw) {
    const store = draw.oneOf(['live', 'records'] as const);
    const instances = someInstances(world, draw);
    const ms = draw.between(500, 40_000);
    for (const { ways } of instances) ways[store].isCut = true;
    lasting(world, ms, () => {
      for (const { ways } of instances) ways[store].isCut = false;
    });
    return `${namesOf(instances)} cannot connect to the ${store} store for ${ms} ms`;
  },
};
