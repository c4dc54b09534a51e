// Cisco IoT Control Center (Jasper), from its public description: https://developer.cisco.com/docs/control-center/
// ("Get Device Usage", "Get Device Details", "Edit Device Details", "REST API Troubleshooting Checklist"). HTTP Basic with
// a user name and an API key, the card in the path, bytes without an envelope, success by the HTTP status alone. The
// description allows five calls a second; it does not say how more are refused: 429 is our assumption.
import { jsonObject, type VendorAnswer, type VendorCall, VendorGateway } from './vendor-gateway.ts';

export const CISCO_CREDENTIALS = { username: 'fleet-operator', password: 'c1sc0-api-key' } as const;

const DEVICE = /^\/rws\/api\/v1\/devices\/([^/]+?)(\/ctdUsages)?$/;
/** "SIM Status Values". */
const STATUSES = [
  'ACTIVATED',
  'ACTIVATION_READY',
  'DEACTIVATED',
  'INVENTORY',
  'PURGED',
  'REPLACED',
  'RETIRED',
  'TEST_READY',
];
const AUTHORIZATION = `Basic ${btoa(`${CISCO_CREDENTIALS.username}:${CISCO_CREDENTIALS.password}`)}`;

export function startCiscoControlCenter(): Promise<VendorGateway> {
  return VendorGateway.start(answer);
}

function answer(call: VendorCall, gateway: VendorGateway): VendorAnswer {
  gateway.arrived();
  if (call.headers.authorization !== AUTHORIZATION) {
    gateway.refuseCredentials();
    return call.headers.authorization === undefined
      ? { status: 401, body: { errorMessage: 'Full authentication is required to access this resource' } }
      : failure(401, '10000001', 'Invalid credentials');
  }
  const device = DEVICE.exec(call.path);
  const usage = device?.[2] !== undefined;
  const changes = call.method === 'PUT';
  if (device === null || (call.method !== 'GET' && !changes) || (usage && changes)) {
    gateway.misunderstand(`${call.method} ${call.path}`);
    return device === null
      ? { status: 404, headers: { 'content-type': 'text/html' }, body: '<html>Not Found</html>' }
      : failure(405, '10000004', 'Method not allowed');
  }
  const wanted = changes ? jsonObject(call.body)?.status : undefined;
  const kind = usage ? 'flow' : !changes ? 'status' : wanted === 'ACTIVATED' ? 'start' : 'stop';
  if (!gateway.admits(kind)) return failure(429, '40000029', 'Rate Limit Exceeded');
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const card = gateway.card(decodeURIComponent(device[1] as string));
  if (card === undefined) return failure(404, '20000001', 'Resource not found - Invalid ICCID');
  if (changes) {
    if (typeof wanted !== 'string' || !STATUSES.includes(wanted)) {
      gateway.misunderstand(call.body);
      return failure(400, '10000024', 'Invalid SIM status');
    }
    gateway.order(card, wanted !== 'ACTIVATED');
    return success({ iccid: card.iccid });
  }
  const known = {
    iccid: card.iccid,
    imsi: '204043396921829',
    msisdn: '882351696921829',
    imei: '351579056379470',
    status: card.stopped ? 'DEACTIVATED' : 'ACTIVATED',
    ratePlan: 'fleet monthly',
    communicationPlan: 'Data LTE',
  };
  if (!usage) return success({ ...known, customer: null, dateActivated: '2024-05-02 09:11:40.011+0000' });
  return success({
    ...known,
    ctdDataUsage: gateway.read(card),
    ctdSMSUsage: 0,
    ctdVoiceUsage: 0,
    ctdSessionCount: 3,
    overageLimitReached: false,
    overageLimitOverride: 'DEFAULT',
  });
}

const TYPE = { 'content-type': 'application/json;charset=ISO-8859-1' } as const;

function success(body: unknown): VendorAnswer {
  return { headers: TYPE, body };
}

function failure(status: number, errorCode: string, errorMessage: string): VendorAnswer {
  return { status, headers: TYPE, body: { errorMessage, errorCode } };
}
