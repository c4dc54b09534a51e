// The Telco-Vision OCS API, from its public description:
// https://github.com/telco-vision/ocs-api/blob/master/doc/v1/API.md. One path; the command is the one key of the JSON body,
// the token a query parameter. Every answer is HTTP 200 with `status: {code, msg}`; 0 is success, and throttling (100) and
// an unknown card (6) are codes as well.
import { jsonObject, type VendorAnswer, type VendorCall, VendorGateway } from './vendor-gateway.ts';

export const OCS_TOKEN = 'ocs-reseller-token';

const OK = [0, 'OK'] as const;
const UNKNOWN_REQUEST = [1, 'UNKNOWN_REQUEST'] as const;
const INVALID_REQUEST = [2, 'INVALID_REQUEST'] as const;
const DB_NOT_FOUND = [6, 'DB_NOT_FOUND'] as const;
const NO_API_ACCOUNT = [8, 'NO_API_ACCOUNT_FOR_RESELLER'] as const;
const THROTTLED = [100, 'TRAFFIC_CONTROL_LIMIT_EXCEEDED'] as const;

const KINDS = {
  listSubscriberPrepaidPackages: 'flow',
  getSingleSubscriber: 'status',
} as const;

export function startTelcoVisionOcs(): Promise<VendorGateway> {
  return VendorGateway.start(answer);
}

function answer(call: VendorCall, gateway: VendorGateway): VendorAnswer {
  gateway.arrived();
  if (call.method !== 'POST' || call.path !== '/v1') {
    gateway.misunderstand(`${call.method} ${call.path}`);
    return { status: 404, headers: { 'content-type': 'text/html' }, body: '<html>404</html>' };
  }
  if (call.query.get('token') !== OCS_TOKEN) {
    gateway.refuseCredentials();
    return said(NO_API_ACCOUNT);
  }
  const commands = Object.entries(jsonObject(call.body) ?? {});
  const [name, fields] = commands[0] ?? [];
  if (commands.length !== 1 || typeof fields !== 'object' || fields === null) {
    gateway.misunderstand(call.body);
    return said(INVALID_REQUEST);
  }
  if (name === 'modifySubscriberStatus') return modify(fields as Fields, gateway, call.body);
  if (name !== 'listSubscriberPrepaidPackages' && name !== 'getSingleSubscriber') {
    gateway.misunderstand(String(name));
    return said(UNKNOWN_REQUEST);
  }
  if (!gateway.admits(KINDS[name])) return said(THROTTLED);
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const { iccid } = fields as Fields;
  if (typeof iccid !== 'string') {
    gateway.misunderstand(call.body);
    return said(INVALID_REQUEST);
  }
  const card = gateway.card(iccid);
  if (card === undefined) return said(DB_NOT_FOUND);
  if (name === 'getSingleSubscriber') {
    return said(OK, {
      getSingleSubscriber: {
        imsiList: [{ id: 21_046, subscriberId: 21_046, imsi: '248029018000011', iccid }],
        status: [{ id: 21_040, subscriberId: 21_046, status: card.stopped ? 'Suspended' : 'Active' }],
        sim: { id: 36_904, subscriberId: 21_046, esim: false, status: 'AFFECTED' },
        subscriberId: 21_046,
      },
    });
  }
  return said(OK, {
    listSubscriberPrepaidPackages: {
      packages: [
        {
          packageTemplate: { prepaidpackagetemplateid: 30, prepaidpackagetemplatename: 'Fleet 20 GB' },
          subscriberprepaidpackageid: 83,
          pckdatabyte: 21_474_836_480,
          useddatabyte: gateway.read(card),
          active: true,
        },
      ],
      callUseSingleCounter: false,
    },
  });
}

type Fields = Readonly<Record<string, unknown>>;

function modify(fields: Fields, gateway: VendorGateway, body: string): VendorAnswer {
  const { subscriber, newStatus } = fields as { subscriber?: Fields; newStatus?: unknown };
  if (!gateway.admits(newStatus === 'ACTIVE' ? 'start' : 'stop')) return said(THROTTLED);
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const known = ['PENDING', 'ACTIVE', 'INACTIVE', 'DISCONNECTED', 'SUSPENDED'];
  if (typeof subscriber?.iccid !== 'string' || !known.includes(String(newStatus))) {
    gateway.misunderstand(body);
    return said(INVALID_REQUEST);
  }
  const card = gateway.card(subscriber.iccid);
  if (card === undefined) return said(DB_NOT_FOUND);
  gateway.order(card, newStatus !== 'ACTIVE');
  return said(OK);
}

function said([code, msg]: readonly [number, string], more: object = {}): VendorAnswer {
  return { body: { status: { code, msg }, ...more } };
}
