// The 1NCE management API, from its public description: https://help.1nce.com/api/ ("Obtain Access Token", "Get Single
// SIM", "Create Single SIM Configuration", "Get SIM Data Quota", "API Rate Limits"). OAuth 2 client credentials; of a
// card's data only what remains of a total is told, in megabytes. The description knows JSON as the body of a request for
// a token and an error for other types; it does not say which types those are.
import { randomUUID } from 'node:crypto';
import { jsonObject, type VendorAnswer, type VendorCall, VendorGateway } from './vendor-gateway.ts';

export const ONCE_CREDENTIALS = { clientId: 'fleet-api-user', clientSecret: 'once-upon-a-secret' } as const;

export interface OnceGateway {
  readonly gateway: VendorGateway;
  readonly tokens: OnceTokens;
}

export interface OnceTokens {
  /** How long a token is good from now on. */
  seconds: number;
  /** Whether a request for a token may also be a form, as RFC 6749 has it. */
  acceptsForm: boolean;
  /** Every request for a token is answered with this. */
  instead: VendorAnswer | null;
  /** Makes every token invalid at once. */
  revoke(): void;
}

/** Of every card, over its lifetime. */
export const ONCE_TOTAL_MB = 500;
const BASIC = `Basic ${btoa(`${ONCE_CREDENTIALS.clientId}:${ONCE_CREDENTIALS.clientSecret}`)}`;
const SIM = /^\/management-api\/v1\/sims\/([^/]+?)(\/quota\/data)?$/;

export async function startOnce(): Promise<OnceGateway> {
  const endsAt = new Map<string, number>();
  const tokens: OnceTokens = {
    seconds: 3_600,
    acceptsForm: true,
    instead: null,
    revoke: () => endsAt.clear(),
  };
  const valid = (authorization = '') =>
    (endsAt.get(authorization.replace(/^Bearer /, '')) ?? 0) > performance.now();
  const gateway = await VendorGateway.start((call) => {
    if (call.path === '/management-api/oauth/token') return grant(call, gateway, tokens, endsAt);
    gateway.arrived();
    if (!valid(call.headers.authorization)) {
      gateway.refuseCredentials();
      return { status: 401 };
    }
    return answer(call, gateway);
  });
  return { gateway, tokens };
}

function grant(
  call: VendorCall,
  gateway: VendorGateway,
  tokens: OnceTokens,
  endsAt: Map<string, number>,
): VendorAnswer {
  gateway.countToken();
  if (tokens.instead !== null) return tokens.instead;
  if (call.method !== 'POST') return { status: 404 };
  if (call.headers.authorization !== BASIC) {
    gateway.refuseCredentials();
    return refusal('BadCredentials', 'User does not exist.');
  }
  const type = call.headers['content-type'] ?? '';
  const form = type.startsWith('application/x-www-form-urlencoded');
  if (!type.startsWith('application/json') && !(form && tokens.acceptsForm)) {
    gateway.misunderstand(`a token with ${type}`);
    return refusal('UnsupportedContentTypeError', 'Content-Type not supported');
  }
  const grantType = form
    ? new URLSearchParams(call.body).get('grant_type')
    : jsonObject(call.body)?.grant_type;
  if (grantType !== 'client_credentials') {
    gateway.misunderstand(`a token of type ${grantType}`);
    return refusal('BodyValidationError', "Request body validation error: Missing attributes 'grant_type'");
  }
  const token = randomUUID();
  endsAt.set(token, performance.now() + tokens.seconds * 1_000);
  return {
    body: {
      status_code: 200,
      access_token: token,
      token_type: 'bearer',
      expires_in: tokens.seconds,
      userId: 'user',
      scope: 'all',
    },
  };
}

function answer(call: VendorCall, gateway: VendorGateway): VendorAnswer {
  const sim = SIM.exec(call.path);
  const quota = sim?.[2] !== undefined;
  const changes = call.method === 'PUT';
  if (sim === null || (call.method !== 'GET' && !changes) || (quota && changes)) {
    gateway.misunderstand(`${call.method} ${call.path}`);
    return { status: 404 };
  }
  const wanted = changes ? jsonObject(call.body) : null;
  const kind = quota ? 'flow' : !changes ? 'status' : wanted?.status === 'Enabled' ? 'start' : 'stop';
  if (!gateway.admits(kind)) return { status: 429, headers: { 'retry-after': '1' } };
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const iccid = decodeURIComponent(sim[1] as string);
  const card = gateway.card(iccid);
  if (card === undefined) return { status: 404 };
  if (changes) {
    if (wanted?.iccid !== iccid || (wanted.status !== 'Enabled' && wanted.status !== 'Disabled')) {
      gateway.misunderstand(call.body);
      return { status: 422 };
    }
    gateway.order(card, wanted.status === 'Disabled');
    return {};
  }
  if (!quota) {
    const status = card.stopped ? 'Disabled' : 'Enabled';
    return {
      body: { iccid, imsi: '901405100000018', imei_lock: false, status, current_quota: ONCE_TOTAL_MB },
    };
  }
  const usedMb = gateway.read(card) / 1e6;
  return {
    body: {
      volume: Number((ONCE_TOTAL_MB - usedMb).toFixed(6)),
      total_volume: ONCE_TOTAL_MB,
      expiry_date: '2034-01-01T00:00:00.000Z',
      peak_throughput: 1_000_000,
      last_volume_added: ONCE_TOTAL_MB,
      last_status_change_date: '2024-10-01T11:59:44.000Z',
      threshold_percentage: 20,
    },
  };
}

function refusal(errorCode: string, message: string): VendorAnswer {
  return { status: 400, body: { statusCode: 400, errorCode, message } };
}
