// pending: which answers say that the vendor still works on a call with an effect.
import { describe, expect, it } from 'vitest';
import type { PendingRule } from '../../../../src/domain/gateway/gateway-config.ts';
import { AnswerReader } from '../../../../src/gateway/call/answer.ts';

const CARD = '89860000000000000001';
const TEN_MINUTES = 600_000;
const RULE: PendingRule = { path: 'd.state', values: ['PENDING', 7], forMs: TEN_MINUTES };

type Rules = Partial<ConstructorParameters<typeof AnswerReader>[0]>;

/** What is read of the card, and how long the vendor works on it; or why nothing is read. */
function readOf(answer: unknown, rules: Rules, status = 200): unknown {
  const reader = new AnswerReader({
    ...{ success: null, stoppedStatuses: [], reading: null, batch: null, find: null, iccidValue: null },
    errors: { path: null, message: null, throttled: [], unknownCard: [], auth: [] },
    ...rules,
  });
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  try {
    const value = reader.read(text)(CARD);
    return [value, reader.pending(text, status)(CARD, value)];
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the answer to a stop', () => {
  it.each([
    ['one of the values', { d: { state: 'PENDING' } }, 200, TEN_MINUTES],
    ['a number of the values', { d: { state: 7 } }, 200, TEN_MINUTES],
    ['the text of that number', { d: { state: '7' } }, 200, null],
    ['another value', { d: { state: 'DONE' } }, 200, null],
    ['no value', {}, 200, null],
    ['HTTP 202', {}, 202, TEN_MINUTES],
    ['a page', '<html>', 200, null],
    ['nothing', '', 202, TEN_MINUTES],
  ])('with %s', (_, answer, status, expected) => {
    expect(readOf(answer, { pending: RULE }, status)).toEqual([null, expected]);
  });

  it('is pending with every success where the profile names no place', () => {
    expect(readOf('', { pending: { path: null, values: [], forMs: 5_000 } })).toEqual([null, 5_000]);
  });

  it('never is where the profile does not say so', () => {
    expect(readOf({}, { pending: null }, 202)).toEqual([null, null]);
  });

  it('is no failure because its code of success is that of pending; another code is one', () => {
    const rules = { pending: RULE, success: { path: 'd.state', values: ['DONE'] } };
    expect(readOf({ d: { state: 'PENDING' } }, rules)).toEqual([null, TEN_MINUTES]);
    expect(readOf({ d: { state: 'REFUSED' } }, rules)).toBe('d.state REFUSED');
  });
});

describe('a vendor that works on a stop', () => {
  const said = (path: string | null, ...values: string[]): Rules => ({
    pending: { path, values, forMs: TEN_MINUTES },
  });

  it.each([
    // Telnyx: an action. Twilio: the Sim itself. Verizon ThingSpace: an id alone, for a callback. Kaspersky: a task.
    [
      'data.status.value',
      ['in-progress'],
      { data: { action_type: 'disable', status: { value: 'in-progress' } } },
      202,
    ],
    ['status', ['scheduled', 'updating'], { sid: 'DE1', status: 'updating' }, 200],
    [null, [], { requestId: 'd1f08526-5443-4054-9a29-4456490ea9f8' }, 200],
    [null, [], '"ChangeTenantActivation-17"', 202],
  ])('says so at %s with %j: %j', (path, values, answer, status) => {
    expect(readOf(answer, said(path, ...values), status)).toEqual([null, TEN_MINUTES]);
  });

  it.each([
    // Oracle, eSIM Go, Tuya: it is done, in words of each.
    ['{"result":"Success"}', 200],
    ['{"status":"eSIM suspended successfully"}', 201],
    ['{"result":true,"t":1626329772978,"success":true}', 200],
    ['', 205],
    ['<multistatus/>', 207],
  ])('does not in %s: the stop is done', (answer, status) => {
    const codes: Rules = {
      errors: { path: 'code', message: 'msg', throttled: [], unknownCard: ['2008'], auth: ['1010'] },
    };
    expect(readOf(answer, { ...codes, ...said('state', 'PENDING') }, status)).toEqual([null, null]);
  });
});

describe('the status of a card', () => {
  const STATUS: Rules = { reading: { kind: 'status', value: 'status' }, stoppedStatuses: ['STOPPED'] };
  const OF_VALUE = { ...RULE, path: null };

  it.each([
    ['a value that means it', { status: 'PENDING' }, OF_VALUE, ['PENDING', TEN_MINUTES]],
    ['another value', { status: 'STOPPED' }, OF_VALUE, ['STOPPED', null]],
    ['a field that says so', { status: 'ACTIVE', d: { state: 7 } }, RULE, ['ACTIVE', TEN_MINUTES]],
    ['such a field and no value', { status: null, d: { state: 7 } }, RULE, ['7', TEN_MINUTES]],
    ['neither', { status: 'ACTIVE' }, RULE, ['ACTIVE', null]],
    ['no value at all', {}, RULE, 'status is missing'],
  ])('with %s', (_, answer, pending, expected) => {
    expect(readOf(answer, { ...STATUS, pending })).toEqual(expected);
  });

  it('is not pending because of HTTP 202', () => {
    expect(readOf({ status: 'ACTIVE' }, { ...STATUS, pending: RULE }, 202)).toEqual(['ACTIVE', null]);
  });

  it('is read from the item of the card', () => {
    const find = { items: 'cards', iccid: 'iccid' };
    const cards = [
      { iccid: '89860000000000000002', status: 'PENDING' },
      { iccid: CARD, status: 'ACTIVE' },
    ];
    expect(readOf({ cards }, { ...STATUS, find, pending: OF_VALUE })).toEqual(['ACTIVE', null]);
    expect(
      readOf({ cards: [{ ...cards[1], status: 'PENDING' }] }, { ...STATUS, find, pending: OF_VALUE }),
    ).toEqual(['PENDING', TEN_MINUTES]);
  });
});
