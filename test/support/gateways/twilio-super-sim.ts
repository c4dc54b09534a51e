// Twilio Super SIM, from its public description: https://www.twilio.com/docs/iot/supersim/api/ ("Sim Resource", "UsageRecord
// Resource") and its error codes 20003, 20404 and 20429. HTTP Basic with the SID of an API key and its secret; a Sim by its SID or unique
// name; a form to change it; usage as a list of records in bytes, none if there was no usage. How usage of a SID that does not
// exist is answered is not described: `strictUsage` is for both ways.
import { type VendorAnswer, type VendorCall, type VendorCard, VendorGateway } from './vendor-gateway.ts';
import { VendorIds } from './vendor-ids.ts';

export const TWILIO_CREDENTIALS = { username: 'SK0123456789', password: 'tw1lio-secret' } as const;
const AUTHORIZATION = `Basic ${btoa(`${TWILIO_CREDENTIALS.username}:${TWILIO_CREDENTIALS.password}`)}`;
const START_TIME = /^\d{4}-(0[1-9]|1[0-2])-01T00:00:00(Z|[+-]\d\d:\d\d)$/;

export interface TwilioGateway {
  readonly gateway: VendorGateway;
  readonly ids: VendorIds;
  /** False: usage of an unknown SID is an empty list. */
  strictUsage: boolean;
}

export async function startTwilio(): Promise<TwilioGateway> {
  const twilio: { -readonly [Key in keyof TwilioGateway]: TwilioGateway[Key] } = {
    gateway: await VendorGateway.start((call) => answer(call, twilio)),
    ids: new VendorIds((n) => `HS${n.toString(16).padStart(32, '0')}`),
    strictUsage: true,
  };
  return twilio;
}

function answer(call: VendorCall, twilio: TwilioGateway): VendorAnswer {
  const { gateway, ids, strictUsage } = twilio;
  gateway.arrived();
  if (call.headers.authorization !== AUTHORIZATION) {
    gateway.refuseCredentials();
    return failure(401, 20003, 'Authenticate');
  }
  const isUsage = call.path === '/v1/UsageRecords' && call.method === 'GET';
  const sid = isUsage ? call.query.get('Sim') : /^\/v1\/Sims\/([^/]+)$/.exec(call.path)?.[1];
  const wanted = call.method === 'POST' ? new URLSearchParams(call.body).get('Status') : undefined;
  const isWrong =
    (isUsage && !START_TIME.test(call.query.get('StartTime') ?? '')) ||
    (wanted !== undefined && wanted !== 'active' && wanted !== 'inactive');
  if (typeof sid !== 'string' || isWrong || !['GET', 'POST'].includes(call.method)) {
    gateway.misunderstand(`${call.method} ${call.path} ${call.body}`);
    return failure(400, 20001, 'Bad request');
  }
  const kind = isUsage ? 'flow' : wanted === undefined ? 'status' : wanted === 'active' ? 'start' : 'stop';
  if (!gateway.admits(kind)) return failure(429, 20429, 'Too Many Requests');
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const iccid = ids.iccidOf(sid);
  const card = iccid === undefined ? undefined : gateway.card(iccid);
  if (isUsage && (card !== undefined || !strictUsage)) return usage(sid, card, gateway);
  if (card === undefined) return failure(404, 20404, `The requested resource ${call.path} was not found`);
  if (wanted !== undefined) gateway.order(card, wanted === 'inactive');
  return {
    body: { sid, unique_name: null, iccid: card.iccid, status: stateOf(card, gateway), fleet_sid: null },
  };
}

function stateOf(card: VendorCard, gateway: VendorGateway): string {
  return gateway.pending(card) ? 'scheduled' : card.stopped ? 'inactive' : 'active';
}

function usage(sim_sid: string, card: VendorCard | undefined, gateway: VendorGateway): VendorAnswer {
  const data_total = card === undefined ? 0 : gateway.read(card);
  const record = { sim_sid, network_sid: null, data_upload: 0, data_download: data_total, data_total };
  const meta = { key: 'usage_records', page: 0, page_size: 50, next_page_url: null };
  return { body: { usage_records: data_total === 0 ? [] : [record], meta } };
}

function failure(status: number, code: number, message: string): VendorAnswer {
  return { status, body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status } };
}
