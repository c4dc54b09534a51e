import type { Invariant } from '../invariant.ts';

export const jump: Invariant = {
  name: 'jump',
  says: 'A jump of the readings is not over while those of the whole fleet still grow as fast as when it began.',
  watch: (world, check) => {
    /** It was on when last looked at, and growth was the only thing wrong since. */
    let isOn = false;
    return {
      now: async () => {
        const [row] = await world.store.sql<{ isOn: boolean }>(
          'select jump_since is not null as is_on from stop_control',
        );
        const { gateway, lastReturn } = world;
        const [only, ...others] = gateway.wrong;
        const isAlone = others.length === 0 && gateway.weather.unit === 1 && !world.haveRestarted;
        const isFast = isAlone && only?.growsIn === gateway.counterMonth;
        if (isOn && isFast && lastReturn.at === Number.NEGATIVE_INFINITY)
          check(row?.isOn === true, () => 'the jump is over, and the readings grow as when it began');
        isOn = isFast && row?.isOn === true;
      },
    };
  },
};
