// The Hologram REST API, from its public description: https://docs.hologram.io/api/ ("Introduction", "List devices", "Pause, resume,
// or deactivate device"). HTTP Basic with the user `apikey`; a device by its number, with a list of profiles of which each has an ICCID
// (`sim`), bytes and a state; `success` in every answer. The description does not show how an unknown device is refused: HTTP 404 with
// `success: false` is our assumption.
import {
  jsonObject,
  type VendorAnswer,
  type VendorCall,
  type VendorCard,
  VendorGateway,
} from './vendor-gateway.ts';
import { VendorIds } from './vendor-ids.ts';

export const HOLOGRAM_CREDENTIALS = { username: 'apikey', password: 'h0logram-key' } as const;
const AUTHORIZATION = `Basic ${btoa(`apikey:${HOLOGRAM_CREDENTIALS.password}`)}`;
const DEVICE = /^\/api\/1\/devices\/(\d+)(\/state)?$/;

export interface HologramGateway {
  readonly gateway: VendorGateway;
  readonly ids: VendorIds;
}

export async function startHologram(): Promise<HologramGateway> {
  const ids = new VendorIds((n) => String(1_234_000 + n));
  const gateway = await VendorGateway.start((call) => answer(call, gateway, ids));
  return { gateway, ids };
}

function answer(
  { method, path, headers, body }: VendorCall,
  gateway: VendorGateway,
  ids: VendorIds,
): VendorAnswer {
  gateway.arrived();
  if (headers.authorization !== AUTHORIZATION) {
    gateway.refuseCredentials();
    return failure(401, 'Invalid API key');
  }
  const device = DEVICE.exec(path);
  const orders = device?.[2] !== undefined;
  if (device === null || method !== (orders ? 'POST' : 'GET')) {
    gateway.misunderstand(`${method} ${path}`);
    return failure(404, 'API method does not exist');
  }
  const wanted = orders ? jsonObject(body)?.state : undefined;
  if (orders && wanted !== 'pause' && wanted !== 'live') {
    gateway.misunderstand(body);
    return failure(400, 'Invalid state');
  }
  // One call has usage and state.
  if (!gateway.admits(!orders ? 'status' : wanted === 'pause' ? 'stop' : 'start'))
    return failure(429, 'API rate limit exceeded');
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const id = device[1] as string;
  const card = gateway.card(ids.iccidOf(id) ?? '');
  if (card === undefined || ids.iccidOf(id) === undefined) return failure(404, 'Device not found');
  if (!orders) return { body: { success: true, data: deviceOf(id, card, gateway) } };
  gateway.order(card, wanted === 'pause');
  return { body: { success: true } };
}

/** The first profile is one that the device no longer uses. */
function deviceOf(id: string, card: VendorCard, gateway: VendorGateway): unknown {
  const state = card.stopped ? 'PAUSED-USER' : 'LIVE';
  const profile = { deviceid: Number(id), simcardid: 4_860_808, overagelimit: -1, apn: 'hologram' };
  return {
    id: Number(id),
    orgid: 98_765,
    name: `Soil Sensor (${id})`,
    imei: '123456789012345',
    links: {
      cellular: [
        {
          ...profile,
          id: 1,
          sim: '89460800000000000017',
          state: 'INACTIVE',
          cur_billing_data_used: 777_000_000,
        },
        { ...profile, id: 2, sim: card.iccid, state, cur_billing_data_used: gateway.read(card) },
      ],
    },
  };
}

function failure(status: number, error: string): VendorAnswer {
  return { status, body: { success: false, error } };
}
