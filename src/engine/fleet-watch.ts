// Keeps an instance from working on the live store of another fleet, which would poll the cards of the one through the
// gateway of the other (docs/decisions/0031-one-fleet-a-redis.md). Asked before the engine starts, and again and again
// since: a live store that lost everything may have been taken by another fleet meanwhile, and a name may lead elsewhere.
import { type Fleet, fleetText } from '../domain/fleet.ts';
import { CardpollError } from '../platform/errors.ts';
import { type LoopMeans, LoopService } from '../platform/loop.ts';
import type { Coordination } from '../store/ports/live/coordination.ts';

const LOOK_EVERY_MS = 1_000;

/** Marks the live store where nobody did. @throws CardpollError `config` where it is another fleet's */
export async function requireOwnFleet(
  coordination: Pick<Coordination, 'claimFleet'>,
  fleet: Fleet,
): Promise<void> {
  const holder = await coordination.claimFleet(fleet);
  if (holder.id !== fleet.id) throw anotherFleet(holder, fleet);
}

function anotherFleet(holder: Fleet, own: Fleet): CardpollError {
  return new CardpollError(
    'config',
    'redis_of_another_fleet',
    `this Redis belongs to the fleet ${fleetText(holder)}, this database is the fleet ${fleetText(own)}`,
    {
      hint: 'give each fleet a Redis of its own; where this database takes the place of the other one: cardpoll init adopt',
    },
  );
}

export class FleetWatch extends LoopService {
  constructor(
    private readonly deps: LoopMeans & {
      readonly coordination: Pick<Coordination, 'claimFleet'>;
      readonly fleet: Fleet;
      /** The live store is another fleet's: this instance must end. */
      readonly onForeign: (error: CardpollError) => void;
    },
  ) {
    super('fleet-watch', deps);
  }

  async runOnce(): Promise<number> {
    const { coordination, fleet, onForeign } = this.deps;
    const holder = await coordination.claimFleet(fleet);
    if (holder.id !== fleet.id) onForeign(anotherFleet(holder, fleet));
    return LOOK_EVERY_MS;
  }
}
