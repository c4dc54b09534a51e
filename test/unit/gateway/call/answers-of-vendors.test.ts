// Answers of vendors as their pages print them, read as the shipped profile says: of profiles that have no gateway in
// test/support/gateways, because the gateways there have all their mechanisms.
import { describe, expect, it } from 'vitest';
import { loadGatewayConfig } from '../../../../src/config/load-config.ts';
import type { InterfaceName } from '../../../../src/domain/gateway-interface.ts';
import { AnswerReader } from '../../../../src/gateway/call/answer.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';

const ICCID = '89310410106543789301';
const OTHER = '89310410106543789319';

/** The value of the card, and whether the vendor works on it; or the failure. */
async function readOf(profile: string, name: InterfaceName, answer: object, status: number) {
  const { gateway: config } = await loadGatewayConfig({
    flags: { '--gateway-profile': profile, '--gateway-url': 'http://127.0.0.1:1' },
    env: { CARDPOLL_GATEWAY_TOKEN: 'x' },
  });
  const call = config.interfaces[name];
  if (call === null) throw new Error(`${profile} does not offer ${name}`);
  const reader = new AnswerReader({ ...config, ...call });
  const body = JSON.stringify(answer);
  if (status >= 400) return reader.bodyError(body)?.failure;
  try {
    const value = reader.read(body)(ICCID);
    return reader.pending(body, status)(ICCID, value) === null ? value : [value, 'under way'];
  } catch (error) {
    return error instanceof GatewayError ? error.failure : error;
  }
}

const sim = (state: string, amount: string, unit: string, iccid = ICCID) => ({
  data: { iccid, status: { value: state }, current_billing_period_consumed_data: { amount, unit } },
});
const action = (value: string) => ({
  data: { record_type: 'sim_card_action', iccid: undefined, status: { value } },
});
const failed = (code: string) => ({ errors: [{ code, title: 'no', detail: 'no' }] });

describe('telnyx', () => {
  it.each([
    ['flow', sim('enabled', '1.2345', 'GB'), 200, 1_234.5],
    ['flow', sim('enabled', '2049.0', 'KB'), 200, 2.049],
    ['flow', sim('enabled', '7.0', 'MB', OTHER), 200, 'malformed'],
    ['card_status', sim('disabled', '0', 'MB'), 200, 'disabled'],
    ['card_status', sim('disabling', '0', 'MB'), 200, ['disabling', 'under way']],
    ['stop', action('in-progress'), 202, [null, 'under way']],
    ['start', action('completed'), 200, null],
    ['flow', failed('10005'), 404, 'card'],
    ['flow', failed('10011'), 429, 'backpressure'],
    ['stop', failed('10009'), 401, 'auth'],
  ] as const)('%s of %j', async (name, answer, status, expected) => {
    expect(await readOf('telnyx', name, answer, status)).toEqual(expected);
  });
});

const said = (code: number, more: object = {}) => ({ status: { code, msg: 'as described' }, ...more });
const packages = [{ pckdatabyte: 21_474_836_480, useddatabyte: 503_680_000, active: true }];

describe('telco-vision-ocs', () => {
  it.each([
    ['flow', said(0, { listSubscriberPrepaidPackages: { packages } }), 503.68],
    ['card_status', said(0, { getSingleSubscriber: { status: [{ status: 'Suspended' }] } }), 'Suspended'],
    ['stop', said(0), null],
    ['stop', said(100), 'backpressure'],
    ['flow', said(6), 'card'],
    ['flow', said(8), 'auth'],
    ['flow', said(2), 'business'],
  ] as const)('%s of %j', async (name, answer, expected) => {
    expect(await readOf('telco-vision-ocs', name, answer, 200)).toEqual(expected);
  });
});
