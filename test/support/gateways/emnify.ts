// emnify REST API, version 1, from its public description: https://docs.emnify.com/developers/api ("Retrieve authentication token",
// "SIM details", "Update a SIM", "SIM usage and cost statistics"). An application token is changed for an auth_token, which travels as
// a bearer; a SIM by its number; usage as a list with the months that have traffic, in MB; an order is answered with 204 and no body.
// Another place of the description has the usage without the list: `isList` is for both.
import { randomUUID } from 'node:crypto';
import {
  jsonObject,
  type VendorAnswer,
  type VendorCall,
  type VendorCard,
  VendorGateway,
} from './vendor-gateway.ts';
import { VendorIds } from './vendor-ids.ts';

export const EMNIFY_APPLICATION = 'eyJ.application-token-of-emnify';
const SIM = /^\/api\/v1\/sim\/(\d+)(\/stats)?$/;
const ACTIVATED = 1;
const SUSPENDED = 2;

export interface EmnifyGateway {
  readonly gateway: VendorGateway;
  readonly ids: VendorIds;
  /** All tokens that were asked for. */
  readonly issued: readonly string[];
  isList: boolean;
}

export async function startEmnify(): Promise<EmnifyGateway> {
  const issued: string[] = [];
  const emnify: EmnifyGateway = {
    gateway: await VendorGateway.start((call) => {
      if (call.path === '/api/v1/authenticate' && call.method === 'POST') return login(call, emnify, issued);
      return answer(call, emnify);
    }),
    ids: new VendorIds((n) => String(640_000 + n)),
    issued,
    isList: true,
  };
  return emnify;
}

function login({ body }: VendorCall, { gateway }: EmnifyGateway, issued: string[]): VendorAnswer {
  gateway.countToken();
  if (jsonObject(body)?.application_token !== EMNIFY_APPLICATION) {
    gateway.refuseCredentials();
    return { status: 401 };
  }
  const token = `eyJ.${randomUUID()}`;
  issued.push(token);
  return { body: { auth_token: token } };
}

function answer({ method, path, headers, body }: VendorCall, emnify: EmnifyGateway): VendorAnswer {
  const { gateway, ids, issued, isList } = emnify;
  gateway.arrived();
  if (!issued.some((token) => headers.authorization === `Bearer ${token}`)) {
    gateway.refuseCredentials();
    return failure(401, 'Unauthorized', 'AUTH_TOKEN_INVALID');
  }
  const [, id = '', stats] = SIM.exec(path) ?? [];
  const wanted = method === 'PATCH' ? (jsonObject(body)?.status as { id?: unknown } | undefined)?.id : null;
  const isWrong = wanted === null ? method !== 'GET' : wanted !== ACTIVATED && wanted !== SUSPENDED;
  if (id === '' || isWrong) {
    gateway.misunderstand(`${method} ${path} ${body}`);
    return failure(400, 'Bad request', 'BAD_REQUEST');
  }
  const reads = stats === undefined ? 'status' : 'flow';
  if (!gateway.admits(wanted === null ? reads : wanted === SUSPENDED ? 'stop' : 'start'))
    return failure(429, 'Too many requests', 'TOO_MANY_REQUESTS');
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const iccid = ids.iccidOf(id);
  const card = iccid === undefined ? undefined : gateway.card(iccid);
  if (card === undefined) return failure(404, 'Not found', 'RESOURCE_NOT_FOUND');
  if (wanted !== null) {
    gateway.order(card, wanted === SUSPENDED);
    return { status: 204 };
  }
  if (stats === undefined) return { body: simOf(id, card) };
  const usage = usageOf(id, gateway.read(card));
  return { body: isList ? [usage] : usage };
}

function simOf(id: string, { iccid, stopped }: VendorCard): unknown {
  const status = stopped
    ? { id: SUSPENDED, description: 'Suspended' }
    : { id: ACTIVATED, description: 'Activated' };
  return { id: Number(id), iccid, imsi: '901430000000001', msisdn: '423663910000001', status };
}

/** A month without traffic is left out. */
function usageOf(id: string, bytes: number): unknown {
  const last_hour = { data: { rx: [], tx: [] }, sms: { rx: [], tx: [] } };
  if (bytes === 0) return { last_hour };
  const traffic_type = { id: 5, description: 'Data', unit: 'MB' };
  const volume = bytes / 1e6;
  const data = { sim_id: Number(id), volume, volume_tx: 0, volume_rx: volume, traffic_type };
  return { current_month: { data }, last_hour };
}

function failure(status: number, message: string, error_token: string): VendorAnswer {
  return { status, body: { errors: [{ error_code: status, error_token, message }], message } };
}
