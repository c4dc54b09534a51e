// Answers as gateways of vendors give them, read by a profile as an operator writes it, through the real client: another card's
// answer, no usage yet, volumes in every form, units in the answer, and what a module leaves to the profile.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadGatewayConfig } from '../../../../src/config/load-config.ts';
import { MonthCalendar } from '../../../../src/domain/cards/month-calendar.ts';
import { tryInterfaces } from '../../../../src/gateway/trial/trial.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { NO_PROXIES } from '../../../../src/platform/proxy/http-proxy.ts';
import { answer, type ReceivedRequest, startBadGateway } from '../../../support/bad-gateway.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** 19 digits; the neighbour has one digit more, which is no check digit. */
const ICCID = '8986000000000000003';
const NEIGHBOUR = '89860000000000000039';
const CHECKED = '89860000000000000035';
const CARD = { cardId: 7, iccid: ICCID, carrierId: 3 };
const directory = temporaryDirectory('field');
let files = 0;

const opened: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

interface Given {
  /** YAML. */
  readonly profile: string;
  /** Source of ours.mjs. */
  readonly module?: string;
  readonly key?: string;
  readonly iccid?: string;
  readonly only?: 'flow' | 'stop' | 'card_status' | 'realname';
}

/** @param said the body of every answer, JSON or text; or what makes it. */
async function trial(
  said: unknown,
  { profile, module, key, iccid = ICCID, only = 'flow' }: Given,
  status = 200,
) {
  const body = typeof said === 'string' ? said : JSON.stringify(said);
  const gateway = await startBadGateway(answer(status, body));
  opened.push(() => gateway.close());
  files += 1;
  const path = join(directory, `ours-${files}.yaml`);
  writeFileSync(path, `${profile}\n${module === undefined ? '' : `module: ./ours-${files}.mjs\n`}`);
  if (module !== undefined) writeFileSync(join(directory, `ours-${files}.mjs`), module);
  const { gateway: config } = await loadGatewayConfig({
    flags: { '--gateway-url': gateway.url, '--gateway-profile': path },
    env: key === undefined ? {} : { CARDPOLL_GATEWAY_HMAC_KEY: key },
  });
  const calendar = new MonthCalendar('UTC');
  const [result] = await tryInterfaces(
    config,
    only,
    { ...CARD, iccid },
    { clock: systemClock, calendar, proxies: NO_PROXIES },
  );
  return { ...result, requests: gateway.requests };
}

const flow = (more: string) =>
  `success: {}\ninterfaces:\n  flow: { method: GET, path: /usage, query: { q: "{iccid}" }, ${more} }`;

async function readings(profile: string, bodies: readonly unknown[]) {
  const trials = await Promise.all(bodies.map((body) => trial(body, { profile })));
  return trials.map(({ ok, value, reason }) => (ok === true ? value : reason));
}

describe('an answer about another card', () => {
  const row = (iccid: unknown, amount: string, unit: string) => ({
    iccid,
    status: { value: 'enabled' },
    consumed: { amount, unit },
  });
  const search = { data: [row(NEIGHBOUR, '777.0', 'MB'), row(ICCID, '1.2', 'GB')], meta: { total: 2 } };
  const FIND = 'find: { items: data, iccid: iccid }, value: consumed.amount, unit_value: consumed.unit';

  it('is not read by its position: the neighbour comes first', async () => {
    expect(
      await trial(search, { profile: flow('value: "data[0].consumed.amount", unit: MB') }),
    ).toMatchObject({
      ok: false,
      error: 'malformed',
      reason: `the answer is about another card: ${NEIGHBOUR}`,
      hint: expect.stringContaining('gateway.interfaces.flow.find'),
    });
  });

  it('is left, and the item of the card is found, with its unit', async () => {
    expect(await trial(search, { profile: flow(FIND) })).toMatchObject({
      ok: true,
      value: 1_200,
      warning: null,
    });
  });

  it.each([
    ['without its check digit', ICCID, CHECKED, 1_200],
    ['with its check digit', CHECKED, ICCID, 1_200],
    ['padded with F', `${ICCID}F`, ICCID, 1_200],
    ['as a JSON number', 8986000000000000000, ICCID, null],
  ])('is distinguished from the card, with the number %s', async (_, number, iccid, expected) => {
    const body = { data: [row(NEIGHBOUR, '777.0', 'MB'), row(number, '1.2', 'GB')] };
    const { value, error } = await trial(body, { profile: flow(FIND), iccid });
    expect([value, error]).toEqual([expected, expected === null ? 'card' : null]);
  });

  it('is distinguished by digits of a JSON number that JSON.parse rounds', async () => {
    const body = JSON.stringify({ data: [row(1, '777.0', 'MB'), row(2, '1.2', 'GB')] })
      .replace('"iccid":1', '"iccid":8986000000000000004')
      .replace('"iccid":2', `"iccid":${ICCID}`);
    expect(await trial(body, { profile: flow(FIND) })).toMatchObject({ value: 1_200 });
  });

  it('makes an unknown card of a list without the card, and is malformed if the card is there twice', async () => {
    expect(await trial({ data: [row(NEIGHBOUR, '777.0', 'MB')] }, { profile: flow(FIND) })).toMatchObject({
      error: 'card',
      reason: 'the list of the answer does not have this card',
      hint: expect.stringContaining('does not know this card'),
    });
    const twice = { data: [row(ICCID, '1.2', 'GB'), row(ICCID, '3.4', 'GB')] };
    expect(await trial(twice, { profile: flow(FIND) })).toMatchObject({
      error: 'malformed',
      reason: 'the list of the answer has this card twice',
    });
  });

  it.each([
    ['next to the value', { iccid: NEIGHBOUR, used: 5 }, 'value: used'],
    ['around the value', { sim: { ICCID: NEIGHBOUR, month: { used: 5 } } }, 'value: sim.month.used'],
    ['beside the value', { sim: { icc_id: NEIGHBOUR }, used: 5 }, 'value: used'],
    ['where the profile says', { sim: { no: NEIGHBOUR }, used: 5 }, 'value: used, iccid_value: sim.no'],
  ])('is refused: its number is %s', async (_, body, place) => {
    expect(await trial(body, { profile: flow(place) })).toMatchObject({
      error: 'malformed',
      reason: `the answer is about another card: ${NEIGHBOUR}`,
    });
    const own = JSON.parse(JSON.stringify(body).replace(NEIGHBOUR, `${CHECKED}F`)) as unknown;
    expect(await trial(own, { profile: flow(place) })).toMatchObject({ value: 5, warning: null });
  });

  it('cannot be distinguished from one without the number that the profile names', async () => {
    const profile = flow('value: used, iccid_value: sim.no');
    expect(await trial({ used: 5 }, { profile })).toMatchObject({
      error: 'malformed',
      reason: expect.stringContaining('sim.no is missing'),
    });
  });

  it('is nothing that a replaced card or a number of another kind makes', async () => {
    const body = {
      iccid: ICCID,
      used: 5,
      old: { iccid: NEIGHBOUR },
      eid: '8'.repeat(32),
      iccid_masked: '8986****',
    };
    expect(await trial(body, { profile: flow('value: used') })).toMatchObject({ value: 5 });
  });

  it('is warned of when a value is read by its position', async () => {
    const body = {
      list: [
        { card: ICCID, used: 5 },
        { card: NEIGHBOUR, used: 777 },
      ],
    };
    expect(await trial(body, { profile: flow('value: "list[0].used"') })).toMatchObject({
      ok: true,
      value: 5,
      warning: expect.stringContaining(NEIGHBOUR),
    });
  });

  it.each(['stop', 'card_status'] as const)('is refused when %s answers so', async (only) => {
    const profile = `success: {}
stopped_statuses: [off]
interfaces:
  stop: { method: DELETE, path: "/cards/{iccid}" }
  card_status: { path: "/cards/{iccid}", value: state }`;
    const about = (iccid: string) => trial({ data: { iccid }, state: 'off' }, { profile, only });
    expect(await about(NEIGHBOUR)).toMatchObject({ error: 'malformed' });
    expect(await about(ICCID)).toMatchObject({ ok: true });
    if (only === 'stop') expect(await trial('', { profile, only }, 204)).toMatchObject({ ok: true });
  });

  it('is refused when a module reads it', async () => {
    const profile = flow('value: used');
    const module = 'export const read = (_, { body }) => [{ value: JSON.parse(body).used }];';
    expect(await trial({ iccid: NEIGHBOUR, used: 5 }, { profile, module })).toMatchObject({
      reason: `the answer is about another card: ${NEIGHBOUR}`,
    });
    const named = 'export const read = (_, { body }) => [{ value: 5, iccid: body.trim() }];';
    expect(await trial(NEIGHBOUR, { profile, module: named })).toMatchObject({ error: 'malformed' });
    expect(await trial(CHECKED, { profile, module: named })).toMatchObject({ value: 5 });
  });
});

describe('a batch that a module reads', () => {
  const profile = flow('value: used')
    .replace('q: "{iccid}"', 'q: "{iccids}"')
    .replace(/ }$/, ', batch: { size: 2, iccid: no } }');
  const module = (reading: string) => `export const read = (_, { body }) => [${reading}];`;

  it.each([
    [
      'the number of the answer',
      '{ value: 5, iccid: JSON.parse(body)[0].no }',
      ICCID,
      { ok: true, value: 5 },
    ],
    [
      'the number of a neighbour, whose place it took',
      '{ value: 5, iccid: JSON.parse(body)[0].no }',
      NEIGHBOUR,
      { error: 'malformed', reason: `the answer is about another card: ${NEIGHBOUR}` },
    ],
    [
      'no number: it may be the reading of a neighbour',
      '{ value: JSON.parse(body)[0].used }',
      NEIGHBOUR,
      {
        error: 'malformed',
        reason: expect.stringContaining('read left out the iccid of a reading of a batch'),
      },
    ],
    ['an error without a number', "{ error: 'unknown_card' }", ICCID, { error: 'card' }],
  ])('has %s', async (_, reading, no, expected) => {
    expect(await trial([{ no, used: 777 }], { profile, module: module(reading) })).toMatchObject(expected);
  });
});

describe('a unit in an answer that is a list', () => {
  const item = (unit: unknown) => [{ used: 2, unit, iccid: ICCID }];

  it.each([
    'value: "[0].used", unit_value: "[0].unit"',
    'find: { iccid: iccid }, value: used, unit_value: unit',
  ])('is read next to the value: %s', async (places) => {
    expect(await readings(flow(places), [item('GB'), item('KiB')])).toEqual([2000, 0.002048]);
    const [absent, unknown] = await readings(flow(places), [item(undefined), item('COUNT')]);
    expect([absent, unknown]).toEqual([
      expect.stringMatching(/unit is missing$/),
      expect.stringMatching(/unit is not a unit of data volume: "COUNT"$/),
    ]);
  });

  it('is not taken from next to the list', async () => {
    const profile = flow('find: { items: data, iccid: iccid }, value: used, unit_value: unit');
    const [reason] = await readings(profile, [{ unit: 'KB', data: [{ used: 2, iccid: ICCID }] }]);
    expect(reason).toBe('unit is missing');
  });
});

describe('no usage yet', () => {
  it.each([
    ['"records[0].bytes"', { records: [], meta: {} }],
    ['"records[0].bytes"', { records: [{ bytes: null }] }],
    ['"records[0].bytes"', { records: [{ bytes: '' }] }],
    ['"records[0].bytes"', { records: [{ bytes: '-' }] }],
    ['"records[0].bytes"', { records: null }],
    ['data.used', { data: {} }],
    ['data.used', { data: [] }],
    ['used', { iccid: ICCID }],
    ['used', {}],
  ])('is 0 where the profile says so: %s in %j', async (place, body) => {
    const said = flow(`value: ${place}, unit: bytes, missing_value: 0`);
    expect(await trial(body, { profile: said })).toMatchObject({ ok: true, value: 0 });
    expect(await trial(body, { profile: flow(`value: ${place}, unit: bytes`) })).toMatchObject({
      error: 'malformed',
      hint: expect.stringMatching(/missing_value: 0|the answer has/),
    });
  });

  it.each([
    ['records[0].bytes', { message: 'the quota service is down' }],
    ['records[0].bytes', { records: 'none' }],
    ['records[0].bytes', { records: [{ bytes: 'n/a' }] }],
    ['used', { message: 'the quota service is down' }],
    ['used', 'null'],
    ['used', '[7'],
    ['used', ''],
    ['used', { iccid: NEIGHBOUR }],
  ])('is not what this means: %s in %j', async (place, body) => {
    const profile = flow(`value: "${place}", unit: bytes, missing_value: 0`);
    expect(await trial(body, { profile })).toMatchObject({ ok: false, error: 'malformed' });
  });

  it('is not what an error code means, even one that the profile does not list', async () => {
    const profile = `errors: { path: code }\n${flow('value: data.used, missing_value: 0')}`;
    expect(await trial({ code: 7, data: null }, { profile })).toMatchObject({ ok: false });
    expect(await trial({ code: 0, data: null }, { profile })).toMatchObject({ value: 0 });
    const coded = profile.replace('success: {}', 'success: { path: code, values: [0] }');
    expect(await trial({ code: 0 }, { profile: coded })).toMatchObject({ value: 0 });
    expect(await trial({ code: 7 }, { profile: coded })).toMatchObject({ error: 'business' });
  });

  it('has no card that the list lacks', async () => {
    const profile = flow('find: { items: data, iccid: no }, value: used, missing_value: 0');
    expect(await trial({ data: [{ no: ICCID, used: null }] }, { profile })).toMatchObject({ value: 0 });
    expect(await trial({ data: [] }, { profile })).toMatchObject({ error: 'card' });
  });

  it('is both volumes of a remainder, or it is an error', async () => {
    const profile = flow('remaining: left, total: total, missing_value: 0');
    expect(
      await readings(profile, [
        { left: null, total: null },
        { left: 1, total: 3 },
        { left: null, total: 3 },
      ]),
    ).toEqual([0, 2, 'left is not a number of MB: null']);
  });

  it('may be a state, or a verification that was not asked for', async () => {
    const profile = `success: {}
stopped_statuses: [off]
interfaces:
  card_status: { path: "/c/{iccid}", value: data.state, missing_value: new }
  realname: { path: "/c/{iccid}", value: data.verified, true_values: ["1"], missing_value: "0" }`;
    expect(await trial({ data: {} }, { profile, only: 'card_status' })).toMatchObject({ value: 'new' });
    expect(await trial({ data: {} }, { profile, only: 'realname' })).toMatchObject({ value: false });
  });
});

describe('a volume as text', () => {
  const coded = (value: string) =>
    flow(`value: data.used${value}`).replace('success: {}', 'success: { path: code, values: [0] }');
  const used = (...values: unknown[]) => values.map((value) => ({ code: 0, data: { used: value } }));

  it('may have an exponent, any decimals, separators of thousands and a unit', async () => {
    const forms = ['1.2345678E7', '12.345678901234', '12,345.678', '12.34MB', '12.34 mb', ' +7. ', '.5'];
    const read = [12_345_678, 12.345678901234, 12_345.678, 12.34, 12.34, 7, 0.5];
    expect(await readings(coded(', unit: MB'), used(...forms))).toEqual(read);
    expect(await readings(coded(', unit: bytes'), used('1.2345678E7', '1,234', '12 345 678', '-0'))).toEqual([
      12.345678, 0.001234, 12.345678, 0,
    ]);
    expect(await readings(coded(''), used('1.5GB', "1'234.5", '512KiB', 3))).toEqual([
      1_500, 1_234.5, 0.524288, 3,
    ]);
  });

  it('must have the unit that the profile says, which may be the exact one', async () => {
    expect(await readings(coded(', unit: MiB'), used('100MB', '100MiB', '1GB'))).toEqual([
      104.8576,
      104.8576,
      'data.used is in GB, although its unit is MiB',
    ]);
  });

  it('is refused where it may be two numbers, or none', async () => {
    expect(await readings(coded(', unit: MB'), used('1,234'))).toEqual([
      'data.used is 1,234, of which the comma may separate thousands or decimals',
    ]);
    const none = [
      '12,5',
      '0,123',
      '1,23,456',
      '1.234,5',
      '-1',
      '1e999',
      '12 Mbit',
      'MB',
      '',
      '1 2',
      '0x10',
      'Infinity',
    ];
    const read = await readings(coded(', unit: MB'), used(...none));
    expect(read.map((each) => typeof each)).toEqual(none.map(() => 'string'));
  });
});

describe('a unit in the answer', () => {
  const profile = flow('value: volume, unit_value: unit');
  it('may be another one for every card', async () => {
    const bodies = [
      { volume: '1.2', unit: 'GB' },
      { volume: 5, unit: 'mb' },
      { volume: 5_000_000, unit: 'Bytes' },
      { volume: 5_000_000, unit: 'B' },
      { volume: '5 MB', unit: 'MB' },
    ];
    expect(await readings(profile, bodies)).toEqual([1_200, 5, 5, 5, 5]);
  });

  it('must be known, there, and that of the number', async () => {
    const bodies = [
      { volume: 5, unit: 'Mbit' },
      { volume: 5 },
      { volume: 5, unit: 7 },
      { volume: '5 GB', unit: 'MB' },
    ];
    expect(await readings(profile, bodies)).toEqual([
      'unit is not a unit of data volume: "Mbit"',
      'unit is missing',
      'unit is not a unit of data volume: 7',
      'volume is in GB, although its unit is MB',
    ]);
  });
});

describe("the vendor's words for units", () => {
  const words = (units: string, more: string) => `units: ${units}\n${flow(more)}`;

  it('are read behind a number, and at the place of the unit', async () => {
    const units = '{ M: MB, g: GB, TBytes: TB, octets: bytes, 兆: MiB }';
    const behind = ['12.34M', '1.5 G', '2 tbytes', '5000000 Octets', '100兆', '7 KB', '3'];
    const volumes = behind.map((used) => ({ used }));
    expect(await readings(words(units, 'value: used'), volumes)).toEqual([
      12.34, 1_500, 2_000_000, 5, 104.8576, 0.007, 3,
    ]);
    const pairs = [
      { used: 2, u: 'm' },
      { used: '2', u: 'G' },
      { used: '2 G', u: 'GB' },
    ];
    expect(await readings(words(units, 'value: used, unit_value: u'), pairs)).toEqual([2, 2_000, 2_000]);
  });

  it('may be numbers, blanks included, or what a known word means here', async () => {
    const numbers = words('{ 1: KB, "2": MB, mega bytes: MB }', 'value: used, unit_value: u');
    const pairs = [
      { used: 2_000, u: 1 },
      { used: 2, u: '2' },
      { used: 2, u: 'Mega Bytes' },
    ];
    expect(await readings(numbers, pairs)).toEqual([2, 2, 2]);
    const binary = words('{ MB: MiB, kb: KiB }', 'value: used, unit_value: u');
    expect(await readings(binary, [{ used: 100, u: 'MB' }])).toEqual([104.8576]);
    expect(await readings(words('{ M: MB }', 'value: used, missing_value: "0M"'), [{ used: null }])).toEqual([
      0,
    ]);
  });

  it('contradict the unit of the profile, or are none of the table: malformed, with what to add', async () => {
    const said = words('{ M: MB }', 'value: used, unit: GB');
    expect(await readings(said, [{ used: '5M' }])).toEqual(['used is in MB, although its unit is GB']);
    expect(await trial({ used: '5X' }, { profile: words('{ M: MB }', 'value: used') })).toMatchObject({
      reason: 'used is in the unit X, which is not known',
      hint: expect.stringContaining('gateway.units'),
    });
    const placed = words('{ M: MB }', 'value: used, unit_value: u');
    expect(await trial({ used: 5, u: 'toString' }, { profile: placed })).toMatchObject({
      reason: 'u is not a unit of data volume: "toString"',
      hint: expect.stringContaining('gateway.units'),
    });
  });
});

describe('the whole answer as a value', () => {
  const status = (more = '') =>
    `success: {}\nstopped_statuses: [SUSPENDED, true]\ninterfaces: { card_status: { path: "/{iccid}", value: "."${more} } }`;
  const state = async (body: unknown, more = '') => {
    const { value, reason } = await trial(body, { profile: status(more), only: 'card_status' });
    return value ?? reason;
  };

  it('is JSON or text', async () => {
    expect(await state('"ACTIVE"')).toBe('ACTIVE');
    expect(await state('SUSPENDED\r\n')).toBe('SUSPENDED');
    expect(await state('true')).toBe('true');
    expect(await readings(flow('value: ., unit: bytes'), ['12500000', '"12500000"', '12,500,000'])).toEqual([
      12.5, 12.5, 12.5,
    ]);
    expect(await readings(flow('value: .'), ['1.5 GB'])).toEqual([1_500]);
  });

  it('may be written as an empty path', async () => {
    expect(await readings(flow('value: "", unit: bytes'), ['12500000'])).toEqual([12.5]);
  });

  it('may mean nothing yet', async () => {
    expect(await readings(flow('value: ., missing_value: 0'), ['null', '""', '"-"'])).toEqual([0, 0, 0]);
    expect(await readings(flow('value: ., missing_value: 0'), [{ error: 'x' }])).toEqual([
      '. is not a number of MB, 0 or more: an object',
    ]);
  });

  it('is no page, no list and no object', async () => {
    expect(await state('<html>down</html>')).toBe('the body is a page of HTML, not JSON');
    expect(await state('')).toBe('the body is empty');
    expect(await state({ state: 'ACTIVE' })).toMatch(/^\. is not a text .*: an object$/);
  });

  it('may be the code of success, or of an error', async () => {
    const profile = `success: { path: ., values: [DONE] }
errors: { path: ., unknown_card: [NO SUCH CARD] }
interfaces:
  card_status: { path: "/{iccid}", value: . }
  stop: { method: POST, path: "/{iccid}" }
stopped_statuses: [off]`;
    const stop = async (body: string) => {
      const { ok, error, reason } = await trial(body, { profile, only: 'stop' });
      return ok === true ? 'ok' : `${error}: ${reason}`;
    };
    expect(await stop('DONE')).toBe('ok');
    expect(await stop('"DONE"')).toBe('ok');
    expect(await stop('NO SUCH CARD')).toBe('card: . NO SUCH CARD');
    expect(await stop('LATER')).toBe('business: . LATER');
  });

  it('is named by the hint where a profile expects fields', async () => {
    const profile = status().replace('"."', 'state');
    expect(await trial('"ACTIVE"', { profile, only: 'card_status' })).toMatchObject({
      reason: 'state is missing',
      hint: expect.stringContaining('the answer has "." (the whole answer)'),
    });
  });
});

describe('a request', () => {
  const sent = async (profile: string, env: Readonly<Record<string, string>> = {}) => {
    const gateway = await startBadGateway(answer(200, '{"used":5}'));
    opened.push(() => gateway.close());
    files += 1;
    const path = join(directory, `ours-${files}.yaml`);
    writeFileSync(path, profile);
    const { gateway: config } = await loadGatewayConfig({
      flags: { '--gateway-url': gateway.url, '--gateway-profile': path },
      env,
    });
    const calendar = new MonthCalendar('UTC');
    await tryInterfaces(config, 'flow', CARD, { clock: systemClock, calendar, proxies: NO_PROXIES });
    return gateway.requests[0] as ReceivedRequest;
  };

  it('may have every header name that HTTP allows', async () => {
    const profile = flow('headers: { client_id: abc, "x.sign~v1!": "1" }, value: used');
    expect((await sent(profile)).headers).toMatchObject({ client_id: 'abc', 'x.sign~v1!': '1' });
  });

  it.each([
    ['access_token', '', 'secret-token'],
    ['Authorization', ', scheme: Token', 'Token secret-token'],
    ['Authorization', ', scheme: SSWS', 'SSWS secret-token'],
  ])('may have its token in %s%s', async (name, scheme, expected) => {
    const profile = `auth: { kind: header, name: ${name}${scheme} }\n${flow('value: used')}`;
    const { headers } = await sent(profile, { CARDPOLL_GATEWAY_TOKEN: 'secret-token' });
    expect(headers[name.toLowerCase()]).toBe(expected);
  });

  it.each([
    ['body: [{ iccid: "{iccid}" }]', `[{"iccid":"${ICCID}"}]`, 'application/json'],
    ['body: ["{iccids}"], batch: { size: 2, iccid: no }', `["${ICCID}"]`, 'application/json'],
    ['body_text: "<q><iccid>{iccid}</iccid></q>"', `<q><iccid>${ICCID}</iccid></q>`, 'application/xml'],
    ['body_text: "iccid {iccid}", headers: { Content-Type: text/x-query }', `iccid ${ICCID}`, 'text/x-query'],
    [
      'body: { iccid: "{iccid}" }, headers: { content-type: application/vnd.api+json }',
      `{"iccid":"${ICCID}"}`,
      'application/vnd.api+json',
    ],
  ])('may have another body: %s', async (call, body, type) => {
    const profile = `success: {}\ninterfaces: { flow: { path: /usage, ${call}, value: used } }`;
    expect(await sent(profile)).toMatchObject({ method: 'POST', body, headers: { 'content-type': type } });
  });

  it('may be DELETE, without a body', async () => {
    const profile = `success: {}\ninterfaces: { flow: { method: DELETE, path: "/{iccid}", value: used } }`;
    const { method, headers } = await sent(profile);
    expect([method, headers['content-type']]).toEqual(['DELETE', undefined]);
  });
});

describe('a module', () => {
  const profile = `success: { path: success, values: [true] }
errors: { path: code, message: msg, unknown_card: [31004001], throttled: [1003] }
interfaces:
  flow: { method: GET, path: /unknown, query: { iccid: "{iccid}" } }`;
  const module = `export function read(name, { body }) {
    const { success, used } = JSON.parse(body);
    return success ? [{ value: used }] : undefined;
  }`;

  it('leaves an answer that is an error to the profile, which names an unknown card', async () => {
    const body = { success: false, code: 31004001, msg: 'card does not exist' };
    expect(await trial(body, { profile, module })).toMatchObject({
      error: 'card',
      reason: 'code 31004001: card does not exist',
      hint: expect.stringContaining('the gateway says that it does not know this card'),
    });
    expect(await trial({ success: false, code: 1003 }, { profile, module })).toMatchObject({
      error: 'backpressure',
    });
    expect(await trial({ success: false, code: 8 }, { profile, module })).toMatchObject({
      error: 'business',
    });
    expect(await trial({ success: true, used: 3 }, { profile, module })).toMatchObject({ value: 3 });
  });

  it('is named when it leaves a value that the profile cannot read', async () => {
    const none = 'export const read = () => undefined;';
    expect(await trial({ success: true, used: 3 }, { profile, module: none })).toMatchObject({
      reason: expect.stringMatching(/^module .*: read left the answer to the profile, which does not say/),
    });
  });

  it('signs with parts of the key, and never shows them', async () => {
    const key = 'app1|secret-456|token-789';
    const signing = `export function sign({ key, body }) {
      const [app, , token] = key.split('|');
      return { headers: { 'x-app': app, x_access: token }, query: { t: token, a: app }, ...(body && { body: body + app }) };
    }
    export function read(_, { body }) { throw new Error('it said ' + body + ' secret-456'); }`;
    const posting =
      'success: {}\ninterfaces: { flow: { path: "/x?iccid={iccid}", body: { q: 1 }, value: used } }';
    const { requests, ...shown } = await trial(
      { echo: 'token-789 is old' },
      { profile: posting, module: signing, key },
    );
    expect(requests[0]).toMatchObject({
      headers: { 'x-app': 'app1', x_access: 'token-789' },
      path: expect.stringContaining('t=token-789&a=app1'),
      body: '{"q":1}app1',
    });
    expect(JSON.stringify(shown)).not.toMatch(/app1|secret-456|token-789/);
    expect(shown.request).toMatchObject({
      url: expect.stringMatching(/\/x\?iccid=8986000000000000003&t=\*\*\*&a=\*\*\*$/),
      headers: expect.arrayContaining(['x-app: ***', 'x_access: ***']),
      body: '***',
    });
    expect(shown).toMatchObject({
      answer: '{"echo":"*** is old"}',
      reason: expect.stringContaining('*** is old'),
    });
  });
});
