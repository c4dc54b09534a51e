// China Mobile OneLink, version 5, from its public description (https://open.iot.10086.cn; an older version of the same
// pages: https://api.iot.10086.cn/apiDocuments/usageAmount/batchgprsusedbydate.html). Each answer is HTTP 200 with a text
// code, `{status: "0", message, result: [...]}`; kilobytes as text; real-name as "1". A token is good for two hours and
// travels in every call, as does a transaction number. Many cards are joined by underscores, at most 100; those it does not
// know are left out. The pages we found do not name the code for too many calls, nor for a missing field:
// `throttledStatus` and INVALID stand in for them.
import { randomUUID } from 'node:crypto';
import { answered, type BatchTroubles, batchTroubles } from './batch-troubles.ts';
import { jsonObject, type VendorAnswer, type VendorCall, VendorGateway } from './vendor-gateway.ts';

export const ONELINK_APPLICATION = { appid: '100001', password: 'onelink-password' } as const;
export const ONELINK_THROTTLED = '10099';
const MOST_CARDS = 100;
const INVALID = '10001';

export interface OneLinkGateway {
  readonly gateway: VendorGateway;
  readonly batch: BatchTroubles;
  /** A token that is good until it is revoked. */
  readonly token: string;
  /** All tokens that were asked for. */
  readonly issued: readonly string[];
  /** How long a token that is asked for is good. */
  tokenLifeMs: number;
  /** No request for a token succeeds. */
  tokensAway: boolean;
  /** Numbers of transactions that came more than once. */
  readonly repeated: readonly string[];
  revokeTokens(): void;
}

/** The application id, the time, and eight digits. */
const TRANSACTION = new RegExp(`^${ONELINK_APPLICATION.appid}\\d{14}\\d{8}$`);

type Parameters = Readonly<Record<string, string>>;
type Query = (parameters: Parameters) => VendorAnswer;

export async function startOneLink(): Promise<OneLinkGateway> {
  const token: string = randomUUID();
  const tokens = new Map([[token, Number.POSITIVE_INFINITY]]);
  const batch = batchTroubles();
  const transactions = new Set<string>();
  const repeated: string[] = [];
  const issued: string[] = [];
  const gateway = await VendorGateway.start((call) => {
    const parameters = parametersOf(call);
    const { transid = '' } = parameters;
    if (transactions.has(transid)) repeated.push(transid);
    transactions.add(transid);
    if (call.path === '/v5/ec/get/token') {
      if (own.tokensAway) return { status: 503 };
      const token = grant(parameters, gateway);
      if (token === null) return failed('12001', 'appid或password错误');
      issued.push(token);
      tokens.set(token, performance.now() + own.tokenLifeMs);
      return found({ token, ttl: String(own.tokenLifeMs / 1_000) });
    }
    gateway.arrived();
    if ((tokens.get(parameters.token ?? '') ?? 0) <= performance.now()) {
      gateway.refuseCredentials();
      return failed('12021', 'TOKEN不存在或已过期，请重新获取');
    }
    const query = queries(gateway, batch)[call.path];
    if (query === undefined || !['GET', 'POST'].includes(call.method)) {
      gateway.misunderstand(`${call.method} ${call.path}`);
      return { status: 404, headers: { 'content-type': 'text/html' }, body: '<html>404 Not Found</html>' };
    }
    if (!TRANSACTION.test(transid)) {
      gateway.misunderstand(`transid ${transid}`);
      return failed(INVALID, 'transid格式错误');
    }
    return query(parameters);
  });
  const own: OneLinkGateway = {
    gateway,
    batch,
    token,
    issued,
    tokenLifeMs: 7_200_000,
    tokensAway: false,
    repeated,
    revokeTokens: () => tokens.clear(),
  };
  return own;
}

/** @returns a token; null: the application is not known. */
function grant({ appid, password, transid = '' }: Parameters, gateway: VendorGateway): string | null {
  gateway.countToken();
  const isKnown = appid === ONELINK_APPLICATION.appid && password === ONELINK_APPLICATION.password;
  if (isKnown && TRANSACTION.test(transid)) return randomUUID();
  gateway.refuseCredentials();
  return null;
}

function queries(gateway: VendorGateway, batch: BatchTroubles): Readonly<Record<string, Query>> {
  const forCard = (kind: 'flow' | 'status' | 'realname', tell: (iccid: string) => object): Query => {
    return ({ iccid }) => {
      if (!gateway.admits(kind)) return failed(ONELINK_THROTTLED, '请求过于频繁');
      if (gateway.troubles.instead !== null) return gateway.troubles.instead;
      if (iccid === undefined) return misunderstood(gateway, `${kind} without a card`);
      return gateway.card(iccid) === undefined ? failed('11011', '无此号码') : found(tell(iccid));
    };
  };
  const known = (iccid: string) => gateway.card(iccid) as NonNullable<ReturnType<VendorGateway['card']>>;
  const kilobytes = (iccid: string) => (gateway.read(known(iccid)) / 1_024).toFixed(2);
  return {
    '/v5/ec/query/sim-data-usage': forCard('flow', (iccid) => ({ dataAmount: kilobytes(iccid) })),
    '/v5/ec/query/sim-status': forCard('status', (iccid) => ({
      cardStatus: known(iccid).stopped ? '4' : '2',
      lastChangeDate: '2024-05-02 09:11:40',
    })),
    '/v5/ec/query/sim-real-name-status': forCard('realname', (iccid) => ({
      realNameStatus: known(iccid).verified ? '1' : '0',
    })),
    '/v5/ec/change/sim-status': ({ iccid, operType }) => {
      if (!gateway.admits(operType === '1' ? 'start' : 'stop')) {
        return failed(ONELINK_THROTTLED, '请求过于频繁');
      }
      if (gateway.troubles.instead !== null) return gateway.troubles.instead;
      if (iccid === undefined || (operType !== '0' && operType !== '1')) {
        return misunderstood(gateway, `operType ${operType} of card ${iccid}`);
      }
      const card = gateway.card(iccid);
      if (card === undefined) return failed('11011', '无此号码');
      gateway.order(card, operType === '0');
      return found({ iccid });
    },
    '/v5/ec/query/sim-data-usage-monthly/batch': ({ iccids, queryDate }) => {
      if (!gateway.admits('flow')) return failed(ONELINK_THROTTLED, '请求过于频繁');
      if (gateway.troubles.instead !== null) return gateway.troubles.instead;
      const asked = iccids?.split('_') ?? [];
      if (!/^\d{6}$/.test(queryDate ?? '') || asked.length === 0 || asked.length > MOST_CARDS) {
        return { ...misunderstood(gateway, `month ${queryDate} of ${asked.length} cards`), asked };
      }
      if (asked.some((iccid) => batch.poisoned.has(iccid))) return { ...failed('2', '系统异常'), asked };
      const dataAmountList = answered(asked, batch)
        .filter((iccid) => gateway.card(iccid) !== undefined)
        .map((iccid) => ({ iccid, dataAmount: kilobytes(iccid), apnDataAmountList: [] }));
      return { ...found({ dataAmountList }), asked };
    },
  };
}

/** Parameters travel in the query, in a form or in a JSON object. */
function parametersOf({ query, headers, body }: VendorCall): Parameters {
  const json = headers['content-type']?.startsWith('application/json') === true;
  const sent = json ? Object.entries(jsonObject(body) ?? {}) : [...new URLSearchParams(body)];
  return Object.fromEntries([
    ...query,
    ...sent.filter(([, value]) => typeof value === 'string'),
  ]) as Parameters;
}

function found(...result: readonly object[]): VendorAnswer {
  return { body: { status: '0', message: '正确', result } };
}

function failed(status: string, message: string): VendorAnswer {
  return { body: { status, message, result: [] } };
}

function misunderstood(gateway: VendorGateway, what: string): VendorAnswer {
  gateway.misunderstand(what);
  return failed(INVALID, '参数错误');
}
