// Answers by profile: values, units, codes, and everything that is none of them.
import { describe, expect, it } from 'vitest';
import { AnswerReader } from '../../../../src/gateway/call/answer.ts';
import { GatewayError } from '../../../../src/gateway/gateway.ts';

type Rules = ConstructorParameters<typeof AnswerReader>[0];
/** With its check digit, and the digits before it. */
const CARD = '89860000000000000001';
const NO_ERRORS = { path: null, message: null, throttled: [], unknownCard: [], auth: [] };

function reader(rules: Partial<Rules>): AnswerReader {
  return new AnswerReader({
    success: null,
    errors: NO_ERRORS,
    stoppedStatuses: [],
    reading: null,
    batch: null,
    find: null,
    iccidValue: null,
    ...rules,
  });
}

const TEN = { size: 10, join: ',' };

/** What is read for a card that the answer does not name. */
function valueIn(rules: Partial<Rules>, body: string) {
  return reader(rules).read(body)(CARD);
}

function failure(read: () => unknown): [string, string] {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    const { failure: kind, message } = error as GatewayError;
    return [kind, message];
  }
  throw new Error('nothing was thrown');
}

describe('a volume', () => {
  const bytes = reader({ reading: { kind: 'megabytes', value: 'a.b[1]', unit: 'bytes' } });
  const read = (json: string) => bytes.read(`{"a":{"b":[0,${json}]}}`)(CARD);

  it.each([
    ['0', 0],
    ['1500000', 1.5],
    ['"2500000"', 2.5],
    ['"2500000.5"', 2.5000005],
    ['9007199254740993', 9007199254.740992],
  ])('%s bytes are %d MB', (json, expected) => {
    expect(read(json)).toBe(expected);
  });

  it.each([
    ['null', 'null'],
    ['-1', '-1'],
    ['1e400', 'Infinity'],
    ['"12,5"', '"12,5"'],
    ['"NaN"', '"NaN"'],
    ['""', '""'],
    ['true', 'true'],
    ['[1]', 'a list'],
    ['{"x":1}', 'an object'],
    ['1e19', '10000000000000000000'],
    ['"99999999999999999999"', '"99999999999999999999"'],
  ])('%s is none', (json, shown) => {
    const reason = `a.b[1] is not a number of bytes, 0 or more: ${shown}`;
    expect(failure(() => read(json))).toEqual(['malformed', reason]);
  });

  it.each(['{}', '{"a":null}', '{"a":{"b":[0]}}', '[]', 'null', '3', '"text"'])(
    'is missing in %s',
    (body) => {
      expect(failure(() => bytes.read(body)(CARD))).toEqual(['malformed', 'a.b[1] is missing']);
    },
  );

  it.each([
    ['', 'empty'],
    ['<html>', 'a page of HTML, not JSON'],
    ['\n<!DOCTYPE HTML><head>', 'a page of HTML, not JSON'],
    ['<html><form><input type="password"></form>', 'a page to sign in (HTML), not JSON'],
    ['<!doctype html><title>Vendor - Sign in</title>', 'a page to sign in (HTML), not JSON'],
    ['<html><meta http-equiv=refresh content="0;url=/portal/login">', 'a page to sign in (HTML), not JSON'],
    ['<html><p>Do not sign in today: maintenance', 'a page of HTML, not JSON'],
    ['<?xml version="1.0"?><used>5</used>', 'XML, not JSON'],
    ['{"a":', 'not JSON'],
    ['\u0000', 'not JSON'],
  ])('is nothing in %j', (body, what) => {
    expect(failure(() => bytes.read(body)(CARD))).toEqual(['malformed', `the body is ${what}`]);
  });
});

describe('a remainder', () => {
  const left = reader({ reading: { kind: 'remainder', remaining: 'left', total: 'total', unit: 'MiB' } });

  it('is what was used of the total', () => {
    expect(left.read('{"left":"300","total":500}')(CARD)).toBe(209.7152);
    expect(left.read('{"left":500,"total":500}')(CARD)).toBe(0);
  });

  it('may be less than nothing, for a card that is over its total', () => {
    expect(left.read('{"left":-12,"total":"500"}')(CARD)).toBe(536.870912);
    expect(left.read('{"left":"-12.5","total":500}')(CARD)).toBe(537.3952);
  });

  it('may be of a total of terabytes, whatever the unit', () => {
    const bytes = reader({
      reading: { kind: 'remainder', remaining: 'left', total: 'total', unit: 'bytes' },
    });
    expect(bytes.read('{"left":2000000000000,"total":3500000000000}')(CARD)).toBe(1_500_000);
  });

  it('is refused where it cannot be', () => {
    expect(failure(() => left.read('{"left":501,"total":500}')(CARD))).toEqual([
      'malformed',
      'left is more than total',
    ]);
    expect(failure(() => left.read('{"left":null,"total":500}')(CARD))[1]).toBe(
      'left is not a number of MiB: null',
    );
    expect(failure(() => left.read('{"left":1}')(CARD))[1]).toBe('total is missing');
  });
});

describe('verified', () => {
  const texts = reader({ reading: { kind: 'verified', value: 'v', trueValues: ['1', 2] } });
  it.each([
    ['"1"', true],
    ['"0"', false],
    ['2', true],
    ['1', false],
  ])('%s is %s', (json, expected) => {
    expect(texts.read(`{"v":${json}}`)(CARD)).toBe(expected);
  });

  it.each([
    ['null', 'null'],
    ['true', 'true'],
    ['[]', 'a list'],
    ['{}', 'an object'],
  ])('%s is neither', (json, shown) => {
    const reason = `v is not a string or number: ${shown}`;
    expect(failure(() => texts.read(`{"v":${json}}`)(CARD))).toEqual(['malformed', reason]);
  });
});

describe('a status', () => {
  it('may be a number where a stopped status is one', () => {
    const reading = { kind: 'status', value: 's' } as const;
    expect(valueIn({ reading, stoppedStatuses: ['2'] }, '{"s":2}')).toBe('2');
    expect(failure(() => valueIn({ reading, stoppedStatuses: ['off'] }, '{"s":2}'))[0]).toBe('malformed');
  });

  it('may be true or false where a stopped status is one', () => {
    const reading = { kind: 'status', value: 'blocked' } as const;
    const vendor = reader({ reading, stoppedStatuses: ['true'] });
    expect([true, false].map((blocked) => vendor.read(JSON.stringify({ blocked }))(CARD))).toEqual([
      'true',
      'false',
    ]);
    for (const stoppedStatuses of [['off'], ['1']]) {
      expect(failure(() => valueIn({ reading, stoppedStatuses }, '{"blocked":true}'))[0]).toBe('malformed');
    }
  });
});

describe('codes', () => {
  const errors = {
    path: 'e.code',
    message: 'e.text',
    throttled: ['1003'],
    unknownCard: ['2001'],
    auth: ['1001'],
  };
  const vendor = reader({
    success: { path: 'e.code', values: ['0', 0] },
    errors,
    reading: { kind: 'status', value: 's' },
  });
  const read = (code: string, text = 'null') =>
    vendor.read(`{"e":{"code":${code},"text":${text}},"s":"on"}`)(CARD);

  it('codes of success let the value be read', () => {
    expect([read('"0"'), read('0')]).toEqual(['on', 'on']);
  });

  it.each([
    ['"1003"', 'backpressure'],
    ['1003', 'backpressure'],
    ['"2001"', 'card'],
    ['"1001"', 'auth'],
    ['"9999"', 'business'],
    ['9999', 'business'],
    ['null', 'malformed'],
    ['true', 'malformed'],
    ['{}', 'malformed'],
  ])('%s is %s', (code, expected) => {
    expect(failure(() => read(code))[0]).toBe(expected);
  });

  it('come with their text', () => {
    expect(failure(() => read('"1003"', '"too fast"'))[1]).toBe('e.code 1003: too fast');
  });

  it('count in an answer that is no success, and are reported where the profile does not list them', () => {
    expect(vendor.bodyError('{"e":{"code":2001}}')?.failure).toBe('card');
    expect(vendor.bodyError('{"e":{"code":7}}')).toEqual({ failure: null, reason: 'e.code 7' });
    const withoutCode = ['{"e":{"code":null}}', '{"e":{"code":{}}}', '{}', '<html>', ''];
    expect(withoutCode.map((body) => vendor.bodyError(body))).toEqual([null, null, null, null, null]);
  });

  describe('the answer to a call with an effect', () => {
    const rules = {
      success: { path: 'c', values: [1] },
      errors: { ...errors, path: 'c', throttled: ['1003'] },
    };

    it.each([
      '',
      '<ok/>',
      'Thing state updated.',
      '"ok"',
      '[]',
      '{}',
      '{"c":1}',
      '{"c":"done"}',
      '{"c":{}}',
      '{"c":',
    ])('are none in %j: it has succeeded', (body) => {
      expect(valueIn(rules, body)).toBeNull();
      expect(valueIn({ errors }, body)).toBeNull();
      expect(valueIn({}, body)).toBeNull();
    });

    it('fail it where the profile names them, or names those of success', () => {
      expect(failure(() => valueIn(rules, '{"c":1003}'))[0]).toBe('backpressure');
      expect(failure(() => valueIn(rules, '{"c":2}'))).toEqual(['business', 'c 2']);
    });
  });
});

describe('a batch', () => {
  const list = reader({
    reading: { kind: 'megabytes', value: 'used', unit: 'MB' },
    batch: { items: 'data.list', iccid: 'card.no', ...TEN },
  });
  const item = (no: string, used: string) => `{"card":{"no":${no}},"used":${used}}`;
  const answer = (...items: string[]) => list.read(`{"data":{"list":[${items.join(',')}]}}`);

  it('gives each card its own value, in any order, and ignores cards of others', () => {
    const usedOf = answer(
      item('"3"', '30'),
      item('"1"', '10'),
      item('"99"', '990'),
      'null',
      '7',
      item('2', '20'),
    );
    expect([usedOf('1'), usedOf('2'), usedOf('3')]).toEqual([10, 20, 30]);
  });

  it('fails a card alone: left out, without a value, or there twice', () => {
    const usedOf = answer(item('"1"', '10'), item('"2"', 'null'), item('"3"', '1'), item('"3"', '1'));
    expect(usedOf('1')).toBe(10);
    expect(failure(() => usedOf('2'))[0]).toBe('malformed');
    expect(failure(() => usedOf('3'))).toEqual(['malformed', 'the answer to the batch has this card twice']);
    expect(failure(() => usedOf('4'))).toEqual(['card', 'the answer to the batch does not have this card']);
  });

  it('reads the number of a card that JSON.parse would round', () => {
    const usedOf = answer(item('89860000000000000043', '43'), item('89860000000000000042', '42.5'));
    expect(usedOf('89860000000000000042')).toBe(42.5);
    expect(failure(() => usedOf('89860000000000000044'))[0]).toBe('card');
  });

  it('knows a card with or without its check digit, or padded, and prefers the number that was asked for', () => {
    const [short, whole] = ['8986000000000000000', CARD];
    for (const number of [short, whole, `${whole}F`, `${short}f`]) {
      expect(answer(item(`"${number}"`, '1'))(short)).toBe(1);
      expect(answer(item(`"${number}"`, '1'))(whole)).toBe(1);
    }
    const both = answer(item(`"${whole}"`, '2'), item(`"${short}"`, '1'));
    expect([both(short), both(whole)]).toEqual([1, 2]);
    const neighbour = answer(item('"89860000000000000009"', '1'));
    expect(failure(() => neighbour(short))[0]).toBe('card');
  });

  it('fails as a whole without a list', () => {
    expect(failure(() => list.read('{"data":{}}'))).toEqual(['malformed', 'data.list is missing']);
    expect(failure(() => list.read('{"data":{"list":{}}}'))).toEqual([
      'malformed',
      'data.list is not a list',
    ]);
  });

  it('may be the answer itself', () => {
    const bare = reader({
      reading: { kind: 'status', value: 's' },
      batch: { items: null, iccid: 'no', ...TEN },
    });
    expect(bare.read('[{"no":"1","s":"on"}]')('1')).toBe('on');
  });
});
