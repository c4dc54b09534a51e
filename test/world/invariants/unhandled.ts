import type { Invariant } from '../invariant.ts';

/** Retries of what failed last may fail once more. */
const SETTLED_MS = 90_000;

export const unhandled: Invariant = {
  name: 'nothing unhandled',
  says: 'No error is left unhandled, no part fails for another reason than a store or the gateway, and none once all is well.',
  watch: (world, check) => {
    world.onError = (who, line) => {
      const isCalm = world.calmSince !== null && world.time.now - world.calmSince > SETTLED_MS;
      const isBug = /TypeError|RangeError|is not a function|undefined|violates|syntax error|deadlock/.test(
        line,
      );
      check(!isCalm && !isBug, () => `${who}: ${line}`);
    };
    return { atRest: async () => check(true, () => '') };
  },
};
