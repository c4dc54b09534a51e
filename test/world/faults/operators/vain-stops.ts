import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { ask, type Fault, lasting } from '../../fault.ts';
import { ACTOR } from '../../world.ts';

const INTERFACES: readonly InterfaceName[] = ['stop', 'start'];
const CARDS = 20;
/** By then an instance runs in the place of the one that died. */
const ORDERED_AFTER_MS = 8_000;

/** The first calls of a new instance all fail. */
export const vainStops: Fault = {
  name: 'stops ordered in vain',
  begin(world, draw) {
    const { dead } = world.gateway.weather;
    const ms = draw.between(30_000, 90_000);
    for (const name of INTERFACES) dead.add(name);
    lasting(world, ms, () => {
      for (const name of INTERFACES) dead.delete(name);
    });
    const dies = world.alive.length === 0 ? null : draw.oneOf(world.alive);
    if (dies !== null) world.died(dies);
    const running = [...world.cards.values()].filter(({ sim }) => !sim.stopped && !sim.isUnknown);
    const cards = new Set(
      running.length === 0 ? [] : Array.from({ length: CARDS }, () => draw.oneOf(running)),
    );
    world.time.after(ORDERED_AFTER_MS, () => {
      for (const card of cards) {
        card.ordered = true;
        const id = String(card.cardId);
        void ask(world, draw, `stop ${id}`, ({ stops }) => stops.order(ACTOR, id, 'as drawn'));
      }
    });
    return `${dies?.id ?? 'nobody'} dies, and ${cards.size} cards are to stop while no call of ${INTERFACES.join(' and ')} succeeds, for ${ms} ms`;
  },
};
