import type { Fault } from '../../fault.ts';

export const dataLost: Fault = {
  name: 'live data lost',
  weight: 0.5,
  begin(world) {
    world.loseLiveData();
    return 'the live store is empty';
  },
};
