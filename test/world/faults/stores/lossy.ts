import { type Fault, lasting, namesOf, someInstances } from '../../fault.ts';

export const lossy: Fault = {
  name: 'calls of a store lost',
  weight: 2,
  begin(world, draw) {
    const store = draw.oneOf(['live', 'records'] as const);
    const instances = someInstances(world, draw);
    const ms = draw.between(5_000, 60_000);
    const loss = { lostBefore: draw.next() * 0.2, lostAfter: draw.next() * 0.2 };
    for (const { ways } of instances) Object.assign(ways[store], loss);
    lasting(world, ms, () => {
      for (const { ways } of instances) Object.assign(ways[store], { lostBefore: 0, lostAfter: 0 });
    });
    const shares = `${Math.round(loss.lostBefore * 100)} % before and ${Math.round(loss.lostAfter * 100)} % after their effect`;
    return `${namesOf(instances)} lose calls of the ${store} store for ${ms} ms, ${shares}`;
  },
};
