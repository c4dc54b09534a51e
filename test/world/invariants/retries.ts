import type { Invariant } from '../invariant.ts';

const CARDS = 6;
const RETRY_AFTER_SECONDS = 20;
/** For the pause before a first retry, and what is due before it. */
const RETRIED_WITHIN_MS = 15_000;
/** Every card is polled once in this time. */
const POLLED_WITHIN_MS = 150_000;

export const retries: Invariant = {
  name: 'retries',
  says: 'Once all is well, a call that failed is made again within seconds, and not before the time that the gateway named.',
  watch: (world, check) => {
    interface Failed {
      readonly isRefused: boolean;
      at: number | null;
      again: number | null;
    }
    const drilled = new Map<string, Failed>();
    // In a call for several cards, one would fail for another.
    const drill = world.nature.cardsPerCall === 1 ? 'flow' : 'realname';
    return {
      gateway: {
        called: ({ name, iccid }) => {
          const one = name === drill ? drilled.get(iccid) : undefined;
          if (one === undefined || one.again !== null) return;
          const { now } = world.time;
          if (one.at === null) {
            one.at = now;
            return;
          }
          one.again = now;
          const agoMs = now - one.at;
          const [leastMs, mostMs] = one.isRefused
            ? [RETRY_AFTER_SECONDS * 1_000, RETRY_AFTER_SECONDS * 1_000 + RETRIED_WITHIN_MS]
            : [0, RETRIED_WITHIN_MS];
          check(
            agoMs >= leastMs && agoMs <= mostMs,
            () =>
              `${iccid} was asked again after ${agoMs} ms${one.isRefused ? `, with Retry-After ${RETRY_AFTER_SECONDS}` : ''}`,
          );
        },
      },
      drill: async () => {
        const draw = world.random.stream('retries');
        // Others may be polled by a trigger.
        const cards = [...world.cards.values()].filter(
          ({ cardId, sim }) => !sim.isUnknown && cardId > world.size.cards / 2,
        );
        for (let i = 0; i < CARDS && cards.length > 0; i += 1) {
          const { iccid } = draw.oneOf(cards).sim;
          const isRefused = i % 2 === 0;
          drilled.set(iccid, { isRefused, at: null, again: null });
          const fails = isRefused ? { retryAfterSeconds: RETRY_AFTER_SECONDS } : 'reset';
          world.gateway.setFate(drill, iccid, { fails });
        }
        await world.time.sleep(POLLED_WITHIN_MS);
      },
      atRest: async () => {
        for (const [iccid, { at, again }] of drilled) {
          const agoMs = world.time.now - (at ?? world.time.now);
          const isDue = agoMs > RETRY_AFTER_SECONDS * 1_000 + RETRIED_WITHIN_MS;
          check(
            !isDue || again !== null,
            () => `${iccid} was not asked again for ${agoMs} ms after its call failed`,
          );
        }
      },
    };
  },
};
