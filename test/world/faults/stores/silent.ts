import { type Fault, lasting, namesOf, someInstances } from '../../fault.ts';

export const silent: Fault = {
  name: 'store frozen',
  begin(world, draw) {
    const store = draw.oneOf(['live', 'records'] as const);
    const instances = someInstances(world, draw);
    const ms = draw.between(500, 30_000);
    for (const { ways } of instances) ways[store].isSilent = true;
    lasting(world, ms, () => {
      for (const { ways } of instances) ways[store].isSilent = false;
    });
    return `${namesOf(instances)} get no answer of the ${store} store for ${ms} ms`;
  },
};
