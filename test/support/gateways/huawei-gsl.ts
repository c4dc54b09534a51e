// Huawei Cloud Global SIM Link, from its public description: https://support.huaweicloud.com/api-ocgsl/ (ShowSimCard
// gsl_07_0009, ListFlowBySimCards gsl_07_0018, StopSimCard gsl_07_0019, the resumption gsl_07_0020, ShowRealNamed
// gsl_07_00010). A token in a header, a card by `iccid` under the id 0, states as numbers, megabytes; a list of up to 50
// cards as JSON, answered by a list without an envelope. A stop is an order that is carried out within ten minutes; a
// second one meanwhile is refused with HTTP 403. The pages we found do not say how an unknown card is refused:
// GSL.00011001 stands in for it.
import { answered, type BatchTroubles, batchTroubles } from './batch-troubles.ts';
import { jsonObject, type VendorAnswer, type VendorCall, VendorGateway } from './vendor-gateway.ts';

export const GSL_TOKEN = 'MIIPAgYJKoZIhvcNAQcCo-gsl';
const MOST_CARDS = 50;
const PACKAGE_MB = 100;

export interface GslGateway {
  readonly gateway: VendorGateway;
  readonly batch: BatchTroubles;
}

export async function startHuaweiGsl(): Promise<GslGateway> {
  const batch = batchTroubles();
  const gateway = await VendorGateway.start((call) => {
    gateway.arrived();
    if (call.headers['x-auth-token'] !== GSL_TOKEN) {
      gateway.refuseCredentials();
      return failed(401, 'APIGW.0301', 'Incorrect IAM authentication information');
    }
    switch (`${call.method} ${call.path}`) {
      case 'POST /v1/sim-price-plans/usage/batch-query':
        return usage(call, gateway, batch);
      case 'GET /v1/sim-cards/0':
        return ofCard('status', call.query.get('iccid'), gateway, ({ iccid, stopped }) => ({
          body: { iccid, sim_card_id: 5_702_790_861_709_056, sim_status: stopped ? 14 : 20 },
        }));
      case 'GET /v1/sim-cards/0/real-named':
        return ofCard('realname', call.query.get('iccid'), gateway, ({ iccid, verified }) => ({
          body: { iccid, real_named: verified },
        }));
      case 'POST /v1/sim-cards/0/stop':
      case 'POST /v1/sim-cards/0/reset': {
        const stop = call.path.endsWith('/stop');
        return ofCard(stop ? 'stop' : 'start', jsonObject(call.body)?.iccid, gateway, (card) => {
          if (gateway.pending(card)) {
            return failed(403, 'GSL.00016010', 'The card has an unfinished work order. Do not repeat it.');
          }
          gateway.order(card, stop);
          return { body: { work_order_id: 1_000_001 } };
        });
      }
      default:
        gateway.misunderstand(`${call.method} ${call.path}`);
        return failed(404, 'APIGW.0101', 'The API does not exist or has not been published');
    }
  });
  return { gateway, batch };
}

function usage({ body }: VendorCall, gateway: VendorGateway, batch: BatchTroubles): VendorAnswer {
  if (!gateway.admits('flow')) return throttled();
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  const asked = jsonObject(body)?.iccids;
  if (!Array.isArray(asked) || asked.length === 0 || asked.length > MOST_CARDS) {
    gateway.misunderstand(body);
    return { ...failed(400, 'GSL.00010004', 'Parameter error'), asked: Array.isArray(asked) ? asked : [] };
  }
  if (asked.some((iccid) => batch.poisoned.has(iccid))) {
    return { ...failed(500, 'GSL.00010003', 'The system is busy. Try again later.'), asked };
  }
  const found = answered(asked, batch).flatMap((iccid) => gateway.card(iccid) ?? []);
  return {
    asked,
    body: found.map((card, id) => {
      const usedMb = gateway.read(card) / 1e6;
      return {
        id,
        iccid: card.iccid,
        price_plan_name: 'fleet monthly',
        flow_total: PACKAGE_MB,
        flow_used: Number(usedMb.toFixed(2)),
        flow_left: Number((PACKAGE_MB - usedMb).toFixed(2)),
      };
    }),
  };
}

type Card = NonNullable<ReturnType<VendorGateway['card']>>;

function ofCard(
  kind: 'status' | 'realname' | 'stop' | 'start',
  iccid: unknown,
  gateway: VendorGateway,
  tell: (card: Card) => VendorAnswer,
): VendorAnswer {
  if (!gateway.admits(kind)) return throttled();
  if (gateway.troubles.instead !== null) return gateway.troubles.instead;
  if (typeof iccid !== 'string' || iccid.length < 19 || iccid.length > 20) {
    gateway.misunderstand(`${kind} of ${iccid}`);
    return failed(400, 'GSL.00010004', 'Parameter error');
  }
  const card = gateway.card(iccid);
  return card === undefined ? failed(400, 'GSL.00011001', 'The SIM card does not exist.') : tell(card);
}

function throttled(): VendorAnswer {
  return failed(
    429,
    'APIGW.0308',
    'The throttling threshold has been reached: policy user over ratelimit, time:1 second',
  );
}

function failed(status: number, error_code: string, error_msg: string): VendorAnswer {
  return { status, body: { error_code, error_msg } };
}
