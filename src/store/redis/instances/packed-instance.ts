// What an instance says about itself, as JSON in Redis. Used by coordination.ts; pure. Instances of several versions read it
// during an upgrade: a name that is in use stays, and a new field has a value in LATER_FIELDS.
import { camelKeys, snakeKeys } from '../../../platform/snake-keys.ts';
import type { InstanceInfo } from '../../ports/live/coordination.ts';

/** Instances of an older version leave these fields out. */
const LATER_FIELDS = { probeAddress: null, breakers: [], databaseOutage: null, reloadFailure: null };

export function packInstance({ instanceId, ...rest }: InstanceInfo): string {
  return JSON.stringify(snakeKeys({ workerId: instanceId, ...rest }));
}

export function unpackInstance(packed: string): InstanceInfo {
  const { workerId, ...rest } = camelKeys(JSON.parse(packed)) as Omit<InstanceInfo, 'instanceId'> & {
    readonly workerId: string;
  };
  return { ...LATER_FIELDS, ...rest, instanceId: workerId };
}
