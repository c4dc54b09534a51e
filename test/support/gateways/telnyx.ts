// Telnyx IoT SIM cards, from their public description: https://developers.telnyx.com/api-reference/sim-cards ("Get SIM card", "Request
// a SIM card disable", "Request a SIM card enable"), "SIM Lifecycle" and the list of error codes. A bearer token, a SIM by its UUID,
// volumes as text with their unit beside them, orders that are answered with 202. The description shows MB only; other units, which
// its field allows, are what `unit` is for.
import { type VendorAnswer, type VendorCall, type VendorCard, VendorGateway } from './vendor-gateway.ts';
import { VendorIds } from './vendor-ids.ts';

export const TELNYX_KEY = 'KEY0185telnyx';
const SIM = /^\/v2\/sim_cards\/([^/]+)(?:\/actions\/(enable|disable))?$/;
const BYTES = { KB: 1e3, MB: 1e6, GB: 1e9 } as const;

export interface TelnyxGateway {
  readonly gateway: VendorGateway;
  readonly ids: VendorIds;
  /** Of the volumes from now on. */
  unit: keyof typeof BYTES;
}

export async function startTelnyx(): Promise<TelnyxGateway> {
  const ids = new VendorIds((n) => `6a09cdc3-8948-47f0-aa62-${String(n).padStart(12, '0')}`);
  const telnyx: { -readonly [Key in keyof TelnyxGateway]: TelnyxGateway[Key] } = {
    gateway: await VendorGateway.start((call) => answer(call, telnyx)),
    ids,
    unit: 'MB',
  };
  return telnyx;
}

function answer({ method, path, headers }: VendorCall, { gateway, ids, unit }: TelnyxGateway): VendorAnswer {
  gateway.arrived();
  if (headers.authorization !== `Bearer ${TELNYX_KEY}`) {
    gateway.refuseCredentials();
    return failure(401, '10009', 'Authentication failed');
  }
  const [, id = '', action] = SIM.exec(path) ?? [];
  if (id === '' || method !== (action === undefined ? 'GET' : 'POST')) {
    gateway.misunderstand(`${method} ${path}`);
    return failure(404, '10005', 'Resource not found');
  }
  // One call has usage and status.
  if (!gateway.admits(action === undefined ? 'status' : action === 'disable' ? 'stop' : 'start'))
    return failure(429, '10011', 'Too many requests');
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const iccid = ids.iccidOf(id);
  const card = iccid === undefined ? undefined : gateway.card(iccid);
  if (card === undefined) return failure(404, '10005', 'Resource not found');
  if (action === undefined) return { body: { data: simOf(id, card, gateway, unit) } };
  gateway.order(card, action === 'disable');
  const status = { value: 'in-progress', reason: 'The action is in progress.' };
  return {
    status: 202,
    body: { data: { record_type: 'sim_card_action', sim_card_id: id, action_type: action, status } },
  };
}

function simOf(id: string, card: VendorCard, gateway: VendorGateway, unit: keyof typeof BYTES): unknown {
  const value = gateway.pending(card) ? 'disabling' : card.stopped ? 'disabled' : 'enabled';
  return {
    id,
    record_type: 'sim_card',
    iccid: card.iccid,
    imsi: '081932214823362973',
    status: { value, reason: 'As the user wants it.' },
    data_limit: { amount: '2048.0', unit: 'MB' },
    current_billing_period_consumed_data: { amount: (gateway.read(card) / BYTES[unit]).toFixed(9), unit },
    actions_in_progress: gateway.pending(card),
  };
}

function failure(status: number, code: string, title: string): VendorAnswer {
  return { status, body: { errors: [{ code, title, detail: title }] } };
}
