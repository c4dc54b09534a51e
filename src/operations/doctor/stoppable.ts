// Finds configurations under which no card over its package can ever be stopped, because of the gateway's profile or the polling
// configs. A card that is never judged is nowhere over its package, so no other number shows this. Used by the doctor and, at the
// start, by src/wiring.ts.
import { type Finding, ok, warning } from '../../domain/finding.ts';
import type { InterfaceName } from '../../domain/gateway-interface.ts';
import type { GatewayFacts } from '../../domain/limits/rate-limit.ts';
import type { TaskType } from '../../domain/task-type.ts';
import type { RecordStore } from '../../store/ports/records/record-store.ts';

const CHECK = 'stops possible';

/** The interfaces that a stop needs: a reading of the usage, one of the status, and the call itself. */
const NEEDED: readonly InterfaceName[] = ['flow', 'card_status', 'stop'];
const POLLED: readonly TaskType[] = ['carddata', 'package'];

export async function stoppableFinding(
  { configs }: Pick<RecordStore, 'configs'>,
  { offers }: Pick<GatewayFacts, 'offers'>,
): Promise<Finding> {
  const missing = NEEDED.filter((name) => !offers(name));
  // A gateway for real-name checks only.
  if (missing.length === NEEDED.length)
    return ok(CHECK, 'the gateway profile has no interface for usage or stops');
  if (missing.length > 0) {
    const detail = `no card over its package can be stopped: the gateway profile does not offer ${missing.join(', ')}`;
    return warning(CHECK, detail, {
      hint: 'docs/gateways.md says how a profile describes them',
      command: 'cardpoll gateway profiles',
    });
  }
  const enabled = (await configs.list()).filter(({ status }) => status === 1);
  const unpolled = POLLED.filter((taskType) => enabled.every((config) => config.taskType !== taskType));
  if (unpolled.length === 0) return ok(CHECK, 'usage and status are polled, and the gateway offers stop');
  const detail = `no card over its package can be stopped: no polling config of ${unpolled.join(', ')} is enabled`;
  return warning(CHECK, detail, { command: 'cardpoll configs' });
}
