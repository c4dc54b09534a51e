// Checks that the live store belongs to the fleet of the database. Used by examine.ts before it looks at the fleet:
// findings from the store of another fleet would be meaningless.
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
    return ok(CHECK, `belongs to no fleet yet; the first daemon claims it for ${fleetText(own)}`);
  if (holder.id === own.id) return ok(CHECK, fleetText(own));
  return failed(
    CHECK,
    `it belongs to ${fleetText(holder)}, but the database is ${fleetText(own)}: no daemon starts`,
    {
      hint: 'give each fleet its own Redis; if this database replaces the other one',
      command: 'cardpoll init adopt',
    },
  );
}
