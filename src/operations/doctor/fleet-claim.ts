// Whether the live store belongs to the fleet of the database. Used by examine.ts, before it looks at the fleet: what it found
// in the store of another one would be nonsense.
import { type Finding, failed, ok } from '../../domain/finding.ts';
import { fleetText } from '../../domain/fleet.ts';
import type { Coordination } from '../../store/ports/live/coordination.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

const CHECK = 'redis fleet';

export async function fleetClaimFinding(
  coordination: Pick<Coordination, 'fleet'>,
  records: Pick<RecordStore, 'fleet'>,
): Promise<Finding> {
  const [holder, own] = [await coordination.fleet(), await records.fleet()];
  if (holder === null)
    return ok(CHECK, `no fleet's yet; the first daemon makes it that of ${fleetText(own)}`);
  if (holder.id === own.id) return ok(CHECK, fleetText(own));
  return failed(
    CHECK,
    `it belongs to ${fleetText(holder)}, the database is ${fleetText(own)}: no daemon starts`,
    {
      hint: 'give each fleet a Redis of its own; where this database takes the place of the other one',
      command: 'cardpoll init adopt',
    },
  );
}
