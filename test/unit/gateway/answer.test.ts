// Answers by profile: values, units, codes, and everything that is none of them.
import { describe, expect, it } from 'vitest';
import { AnswerReader } from '../../../src/gateway/answer.ts';
import { GatewayError } from '../../../src/gateway/gateway.ts';

type Rules = ConstructorParameters<typeof AnswerReader>[0];
const NO_ERRORS = { path: null, message: null, throttled: [], unknownCard: [], auth: [] };

function reader(rules: Partial<Rules>): AnswerReader {
  return new AnswerReader({
    success: null,
    errors: NO_ERRORS,
    stoppedStatuses: [],
    reading: null,
    batch: null,
    ...rules,
  });
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
  const read = (json: string) => bytes.read(`{"a":{"b":[0,${json}]}}`);

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
    ['"1e3"', '"1e3"'],
    ['"12,5"', '"12,5"'],
    ['"NaN"', '"NaN"'],
    ['""', '""'],
    ['" 1"', '" 1"'],
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
      expect(failure(() => bytes.read(body))).toEqual(['malformed', 'a.b[1] is missing']);
    },
  );

  it.each([
    ['', 'empty'],
    ['<html>', 'a page of HTML, not JSON'],
    ['\n<!DOCTYPE HTML><head>', 'a page of HTML, not JSON'],
    ['\u001f\ufffd\b', 'compressed (gzip), which was not asked for'],
    ['{"a":', 'not JSON'],
    ['\u0000', 'not JSON'],
  ])('is nothing in %j', (body, what) => {
    expect(failure(() => bytes.read(body))).toEqual(['malformed', `the body is ${what}`]);
  });
});

describe('a remainder', () => {
  const left = reader({ reading: { kind: 'remainder', remaining: 'left', total: 'total', unit: 'MiB' } });

  it('is what was used of the total', () => {
    expect(left.read('{"left":"300","total":500}')).toBe(209.7152);
    expect(left.read('{"left":500,"total":500}')).toBe(0);
  });

  it('may be less than nothing, for a card that is over its total', () => {
    expect(left.read('{"left":-12,"total":"500"}')).toBe(536.870912);
    expect(left.read('{"left":"-12.5","total":500}')).toBe(537.3952);
  });

  it('may be of a total of terabytes, whatever the unit', () => {
    const bytes = reader({
      reading: { kind: 'remainder', remaining: 'left', total: 'total', unit: 'bytes' },
    });
    expect(bytes.read('{"left":2000000000000,"total":3500000000000}')).toBe(1_500_000);
  });

  it('is refused where it cannot be', () => {
    expect(failure(() => left.read('{"left":501,"total":500}'))).toEqual([
      'malformed',
      'left is more than total',
    ]);
    expect(failure(() => left.read('{"left":null,"total":500}'))[1]).toBe(
      'left is not a number of MiB: null',
    );
    expect(failure(() => left.read('{"left":1}'))[1]).toBe('total is missing');
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
    expect(texts.read(`{"v":${json}}`)).toBe(expected);
  });

  it.each([
    ['null', 'null'],
    ['true', 'true'],
    ['[]', 'a list'],
    ['{}', 'an object'],
  ])('%s is neither', (json, shown) => {
    const reason = `v is not a string or number: ${shown}`;
    expect(failure(() => texts.read(`{"v":${json}}`))).toEqual(['malformed', reason]);
  });
});

describe('a status', () => {
  it('may be a number where a stopped status is one', () => {
    const reading = { kind: 'status', value: 's' } as const;
    expect(reader({ reading, stoppedStatuses: ['2'] }).read('{"s":2}')).toBe('2');
    expect(failure(() => reader({ reading, stoppedStatuses: ['off'] }).read('{"s":2}'))[0]).toBe('malformed');
  });

  it('may be true or false where a stopped status is one', () => {
    const reading = { kind: 'status', value: 'blocked' } as const;
    const vendor = reader({ reading, stoppedStatuses: ['true'] });
    expect([true, false].map((blocked) => vendor.read(JSON.stringify({ blocked })))).toEqual([
      'true',
      'false',
    ]);
    for (const stoppedStatuses of [['off'], ['1']]) {
      expect(failure(() => reader({ reading, stoppedStatuses }).read('{"blocked":true}'))[0]).toBe(
        'malformed',
      );
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
  const read = (code: string, text = 'null') => vendor.read(`{"e":{"code":${code},"text":${text}},"s":"on"}`);

  it('of success let the value be read', () => {
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

  it('count in an answer that is no success, and are told where the profile does not list them', () => {
    expect(vendor.errorSaid('{"e":{"code":2001}}')?.failure).toBe('card');
    expect(vendor.errorSaid('{"e":{"code":7}}')).toEqual({ failure: null, reason: 'e.code 7' });
    const withoutCode = ['{"e":{"code":null}}', '{"e":{"code":{}}}', '{}', '<html>', ''];
    expect(withoutCode.map((body) => vendor.errorSaid(body))).toEqual([null, null, null, null, null]);
  });

  it('are not needed for a call that only succeeds or fails', () => {
    expect(reader({}).read('')).toBeNull();
    expect(reader({}).read('<ok/>')).toBeNull();
    expect(reader({ errors }).read('')).toBeNull();
    expect(failure(() => reader({ success: { path: 'c', values: [1] } }).read(''))).toEqual([
      'malformed',
      'the body is empty',
    ]);
  });
});

describe('a batch', () => {
  const list = reader({
    reading: { kind: 'megabytes', value: 'used', unit: 'MB' },
    batch: { items: 'data.list', iccid: 'card.no' },
  });
  const item = (no: string, used: string) => `{"card":{"no":${no}},"used":${used}}`;
  const answer = (...items: string[]) => list.readBatch(`{"data":{"list":[${items.join(',')}]}}`);

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

  it('takes no card number that JSON cannot hold exactly', () => {
    expect(failure(() => answer(item('89860000000000000042', '1'))('89860000000000000042'))).toEqual([
      'card',
      expect.stringMatching(/JSON numbers, which are not exact: only a module/),
    ]);
  });

  it('fails as a whole without a list', () => {
    expect(failure(() => list.readBatch('{"data":{}}'))).toEqual(['malformed', 'data.list is missing']);
    expect(failure(() => list.readBatch('{"data":{"list":{}}}'))).toEqual([
      'malformed',
      'data.list is not a list',
    ]);
  });

  it('may be the answer itself', () => {
    const bare = reader({ reading: { kind: 'status', value: 's' }, batch: { items: null, iccid: 'no' } });
    expect(bare.readBatch('[{"no":"1","s":"on"}]')('1')).toBe('on');
  });
});
