// missing_value: which answers without a value mean that there is none yet, and which report an error.
import { describe, expect, it } from 'vitest';
import { AnswerReader } from '../../../../src/gateway/call/answer.ts';

const CARD = '89860000000000000001';
const NO_ERRORS = { path: null, message: null, throttled: [], unknownCard: [], auth: [] };

type Rules = Partial<ConstructorParameters<typeof AnswerReader>[0]>;

/** What is read of the card: its usage, or why there is none. */
function readOf(value: string, answer: unknown, rules: Rules = {}): unknown {
  const reader = new AnswerReader({
    success: null,
    errors: NO_ERRORS,
    stoppedStatuses: [],
    reading: { kind: 'megabytes', value, unit: 'MB', missing: 0 },
    batch: null,
    find: null,
    iccidValue: null,
    ...rules,
  });
  try {
    return reader.read(typeof answer === 'string' ? answer : JSON.stringify(answer))(CARD);
  } catch (error) {
    return (error as Error).message;
  }
}

describe('what holds the value may be left out', () => {
  it.each([
    ['current_month.data.volume', { last_hour: { data: [] } }],
    ['usage.month.bytes', { sim: { id: 7 }, plan: 'EU' }],
    ['data.list[0].used', { status: 'active', id: 9 }],
    ['data.used', { code: 0, message: 'query completed', timestamp: 1 }],
    ['data.used', { success: true, msg: 'usage of the month' }],
    ['data.used', { errcode: 0, errmsg: 'all went well' }],
    ['data.used', { code: '0000', desc: '操作成功' }],
    ['data.used', { code: 200, error: null, errors: [], hasError: false }],
    ['data.used', { status: { code: 0, msg: 'OK' } }],
    ['.', 'null'],
    // Tuya, Twilio Programmable Wireless, Kazoo.
    ['result[0].traffic_used', { result: [], t: 1626329772978, success: true }],
    ['usage_records[0].data.total', { usage_records: [{ sim_sid: 'DE1', commands: {}, data: {} }] }],
    ['data.total', { data: { from: '201611', empty_months: ['201611'] }, error: null, status: 'success' }],
  ])('%s of %j', (place, answer) => {
    expect(readOf(place, answer)).toBe(0);
  });

  it.each([
    ['data.used', { message: 'the quota service is down' }],
    ['data.used', { msg: 'try later', request_id: 'a1' }],
    ['data.used', 'null'],
    ['data.used', '7'],
    ['data.used', '"down"'],
    // Salesforce answers a list of errors, whatever was asked for.
    ['data.used', [{ message: 'Session expired or invalid', errorCode: 'INVALID_SESSION_ID' }]],
  ])('but %s of %j is not known to be about the card', (place, answer) => {
    expect(readOf(place, answer)).toBe('data.used is missing');
  });
});

describe('an answer that reports an error has no missing value', () => {
  it.each([
    ['success: false', { success: false, message: 'usage service unavailable', data: {} }],
    ['ok: "false"', { ok: 'false', data: {} }],
    ['isSuccess: 0', { isSuccess: 0, data: null }],
    ['code: 500', { code: 500, data: {} }],
    ['code: "E201"', { code: 'E201', data: {} }],
    ['result_code: 7', { result_code: 7, data: [] }],
    ['retCode: "9999"', { retCode: '9999', data: {} }],
    ['status: "error"', { status: 'error', data: {} }],
    ['status: 401', { status: 401, data: {} }],
    ['result: "fail"', { result: 'fail' }],
    ['error: {"code":404}', { iccid: CARD, error: { code: 404 } }],
    ['error: "timeout"', { error: 'timeout', data: {} }],
    ['errors: [{"m":1}]', { errors: [{ m: 1 }], data: null }],
    ['has_error: true', { has_error: true, data: {} }],
    ['errmsg: "no backend"', { errmsg: 'no backend', data: {} }],
    ['data.error: "backend"', { data: { error: 'backend' } }],
    ['data.success: false', { data: { success: false, used: null } }],
    ['data.code: 503', { data: { code: 503 } }],
    ['status.code: 6', { status: { code: 6, msg: 'not found' }, data: {} }],
    ['header.resultCode: "E05"', { header: { resultCode: 'E05' }, data: {} }],
    // Tuya, Kazoo.
    ['code: 28841105', { code: 28841105, msg: 'No permissions', success: false, t: 1626329772978 }],
    ['error: "500"', { data: {}, error: '500', message: 'datastore_fault', status: 'error' }],
  ])('%s', (sign, answer) => {
    expect(readOf('data.used', answer)).toBe(
      `data.used has no value, and the answer reports an error: ${sign}`,
    );
  });

  it.each([
    ['of a batch, at its top', { success: false, cards: [{ no: CARD }] }, 'success: false'],
    ['of a batch, of the card', { cards: [{ no: CARD, code: 7, used: null }] }, 'code: 7'],
    ['of a batch, around the value', { cards: [{ no: CARD, data: { err: 'x' } }] }, 'data.err: "x"'],
  ])('%s', (_, answer, sign) => {
    const batch = { size: 2, items: 'cards', iccid: 'no', join: ',' };
    expect(readOf('data.used', answer, { batch })).toContain(`reports an error: ${sign}`);
    expect(readOf('data.used', { cards: [{ no: CARD, data: { code: 'EU-500' } }] }, { batch })).toBe(0);
  });

  it('although the success that the profile names is there', () => {
    const success = { path: 'status', values: ['0000', 1] };
    const read = (answer: unknown) => readOf('data.used', answer, { success });
    expect(read({ status: '0000', code: 1, data: {} })).toBe(0);
    expect(read({ status: '0000', data: { resultCode: 'E05' } })).toContain('data.resultCode: "E05"');
    expect(read({ status: 1, error: 'no backend' })).toContain('error: "no backend"');
    expect(read({ status: 1, error: 1 })).toContain('error: 1');
  });

  it('but a code that the profile names as success is none, and a value that is there is read', () => {
    const success = { path: 'code', values: [1000] };
    expect(readOf('data.used', { code: 1000, data: {} }, { success })).toBe(0);
    expect(readOf('data.used', { code: 1000, success: true, data: { used: 5 } })).toBe(5);
  });

  it('a code that the profile reads but does not list is an error', () => {
    const errors = { ...NO_ERRORS, path: 'meta.found' };
    expect(readOf('data.used', { meta: { found: 3 }, data: {} }, { errors })).toContain('meta.found: 3');
    expect(readOf('data.used', { meta: { found: 0 }, data: {} }, { errors })).toBe(0);
  });

  it('also says so where the profile has no missing_value', () => {
    const reading = { kind: 'megabytes', value: 'used', unit: 'MB' } as const;
    expect(readOf('used', { success: false }, { reading })).toBe(
      'used has no value, and the answer reports an error: success: false',
    );
    expect(readOf('used', { success: true }, { reading })).toBe('used is missing');
  });
});
