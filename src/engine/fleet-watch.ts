// Stops an instance that uses the live store of another fleet: it would poll the cards of one fleet through the gateway of the
// other. The operations interface fixes the key names, so a prefix cannot separate two fleets. Checked before the engine starts
// and regularly afterwards: another fleet may take over a live store that lost its data, and a host name may point to another
// server.
import { type Fleet, fleetText } from '../domain/fleet.ts';
import { CardpollError } from '../platform/errors.ts';
import { type LoopDeps, LoopService } from '../platform/loop.ts';
import type { Coordination } from '../store/ports/live/coordination.ts';

const LOOK_EVERY_MS = 1_000;

/** Marks an unmarked live store as this fleet's. @throws CardpollError `config` when it belongs to another fleet */
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
      hint: 'give each fleet a Redis of its own; if this database replaces the other one: cardpoll init adopt',
    },
  );
}

export class FleetWatch extends LoopService<
  LoopDeps & {
    readonly coordination: Pick<Coordination, 'claimFleet'>;
    readonly fleet: Fleet;
    /** Called when the live store belongs to another fleet: this instance must stop. */
    readonly onForeign: (error: CardpollError) => void;
  }
> {
  readonly name = 'fleet-watch';

  async runOnce(): Promise<number> {
    const { coordination, fleet, onForeign } = this.deps;
    const holder = await coordination.claimFleet(fleet);
    if (holder.id !== fleet.id) onForeign(anotherFleet(holder, fleet));
    return LOOK_EVERY_MS;
  }
}
