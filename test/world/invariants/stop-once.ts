import type { Invariant } from '../invariant.ts';
import type { Outside } from '../outside.ts';

export const stopOnce: Invariant<Outside> = {
  name: 'stop once',
  says: 'A SIM that was stopped is not stopped again while it is.',
  watch: ({ gateway }, check) => ({
    gateway: {
      called: ({ name, iccid, instance }) => {
        if (name !== 'stop') return;
        const isStopped = gateway.sims.get(iccid)?.stopped === true;
        check(!isStopped, () => `${instance} stops ${iccid}, which is stopped`);
      },
    },
  }),
};
