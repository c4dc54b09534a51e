// The profile of a gateway: what a file may say, what the config file says over it, and what is refused.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadDaemonConfig } from '../../../../src/config/load-config.ts';
import type { GatewayConfig } from '../../../../src/domain/gateway/gateway-config.ts';
import { CardpollError } from '../../../../src/platform/errors.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const directory = temporaryDirectory('profiles');
let files = 0;

interface Given {
  /** The profile file. */
  readonly profile?: string;
  /** Below `gateway:` in the config file. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const BASIC = { CARDPOLL_GATEWAY_USERNAME: 'fleet', CARDPOLL_GATEWAY_PASSWORD: 'a secret' };

async function load({ profile, config = '', env = {} }: Given): Promise<GatewayConfig> {
  files += 1;
  const path = join(directory, `cardpoll-${files}.yaml`);
  const name = `ours-${files}.yaml`;
  if (profile !== undefined) writeFileSync(join(directory, name), profile);
  const named = profile === undefined ? '' : `  profile: ./${name}\n`;
  writeFileSync(path, `gateway:\n  url: http://gateway:8080\n${named}${config.replace(/^/gm, '  ')}\n`);
  const variables = { HOME: '/home/sre', ...env };
  return (await loadDaemonConfig({ flags: { '--config': path }, env: variables })).gateway;
}

async function refusal(given: Given): Promise<CardpollError> {
  const error = await load(given).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CardpollError);
  expect(error).toMatchObject({ kind: 'config' });
  return error as CardpollError;
}

const VENDOR = `
auth: { kind: basic }
errors: { path: error.code, message: error.text, throttled: ["1003", 1004], unknown_card: ["2001"] }
stopped_statuses: [DEACTIVATED, RETIRED]
interfaces:
  flow: { path: "/devices/{iccid}/usage", value: "data.used[0]", unit: bytes, timeout_ms: 3s }
  card_status: { path: "/devices/{iccid}", value: status }
  stop: { method: PUT, path: "/devices/{iccid}", body: { status: DEACTIVATED } }
  realname: { enabled: false }
`;

const LOGIN = (auth: string, flow = 'path: "/{iccid}", value: a') =>
  `auth: { kind: login, ${auth} }\ninterfaces: { flow: { ${flow} } }`;

describe('a login', () => {
  it('has a request, and says where the token is, how long it is good and where calls have it', async () => {
    const request = 'request: { path: "/in?v={epoch}", form: { user: "{username}", pass: "{password}" } }';
    const { auth } = await load({
      profile: LOGIN(
        `${request}, token: data.token, good_for: 2h, send: { header: X-Session, scheme: Token }`,
      ),
      env: BASIC,
    });
    expect(auth).toMatchObject({
      request: { method: 'POST', url: null, path: '/in?v={epoch}', query: {}, body: null },
      token: 'data.token',
      expiresIn: null,
      goodFor: 7_200,
      send: { in: 'header', name: 'X-Session', scheme: 'Token' },
    });
  });

  it('may be at another server, and what names the operator may be in every call', async () => {
    const { auth, username } = await load({
      profile: LOGIN(
        'request: { url: https://login.example/in, query: { key: "{token}" } }, token: t, expires_in: ttl',
        'path: "/{username}/{iccid}", value: a',
      ),
      env: { CARDPOLL_GATEWAY_USERNAME: 'fleet:1', CARDPOLL_GATEWAY_TOKEN: 'a-key' },
    });
    expect(auth.request).toMatchObject({ method: 'GET', url: 'https://login.example/in', path: '' });
    expect(username).toBe('fleet:1');
  });

  const request = 'request: { path: /in, body: { pass: "{password}" } }';
  it.each([
    ['no request', 'token: t, good_for: 1h', /kind login needs gateway\.auth\.request/],
    ['no token', `${request}, good_for: 1h`, /kind login needs gateway\.auth\.token/],
    ['no life', `${request}, token: t`, /login needs how long a token is good: gateway\.auth\.expires_in or/],
    ['a life of 0', `${request}, token: t, good_for: 0`, /good_for.* out of bounds/],
    ['no credentials', `${request}, token: t, good_for: 1h`, /login needs .*CARDPOLL_GATEWAY_PASSWORD/],
    ['path and url', 'request: { path: /a, url: http://b }', /needs path .*, and not both/],
    [
      'a card',
      'request: { path: "/{iccid}" }',
      /request: path: \{iccid\} is no placeholder here; there are \{month\}/,
    ],
    ['body and form', 'request: { path: /a, body: { a: 1 }, form: { b: 1 } }', /both body and form/],
    ['a body with GET', 'request: { method: GET, path: /a, body: { a: 1 } }', /GET has no body/],
    ['an unknown key', 'request: { path: /a, batch: 1 }', /unknown key batch; there are method, path/],
    ['no place for the token', 'send: { scheme: Token }', /send: needs header, query or cookie/],
    ['two places for the token', 'send: { header: a, cookie: b }', /needs one of header, query and cookie/],
    ['a token in no header', 'token: "header:a b"', /"a b" is no name of a header or a cookie/],
    ['a token in no cookie', 'token: "cookie:"', /"" is no name of a header or a cookie/],
    ['a scheme in a query', 'send: { query: t, scheme: Token }', /scheme is for a header/],
    ['a header that is none', 'send: { header: "a b" }', /header: "a b" is no name for a token/],
  ])('is refused with %s', async (_, auth, expected) => {
    expect((await refusal({ profile: LOGIN(auth) })).message).toMatch(expected);
  });

  it('keeps secrets out of other requests', async () => {
    const profile = LOGIN(`${request}, token: t, good_for: 1h`, 'path: "/{iccid}/{password}", value: a');
    expect((await refusal({ profile, env: { CARDPOLL_GATEWAY_PASSWORD: 'a' } })).message).toMatch(
      /\{password\} is no placeholder here/,
    );
  });

  it('is refused with credentials that nothing uses', async () => {
    const profile = LOGIN(`${request}, token: t, good_for: 1h`);
    expect((await refusal({ profile, env: { ...BASIC } })).message).toMatch(
      /CARDPOLL_GATEWAY_USERNAME is set, but gateway\.auth\.kind login does not use it/,
    );
  });
});

describe('a profile', () => {
  it('may send a query of GraphQL, whose fields are named as placeholders are', async () => {
    const query = '{ card(no: "{iccid}") {date total} }';
    const { interfaces } = await load({
      profile: `interfaces: { flow: { method: POST, path: /graphql, body: { query: '${query}' }, value: a } }`,
    });
    expect(interfaces.flow).toMatchObject({ body: { query } });
  });

  it('says everything about the gateway but its address and its secrets', async () => {
    const gateway = await load({ profile: VENDOR, env: BASIC });
    expect(gateway).toMatchObject({
      url: 'http://gateway:8080',
      username: 'fleet',
      password: 'a secret',
      auth: { kind: 'basic' },
      success: null,
      errors: {
        path: 'error.code',
        message: 'error.text',
        throttled: ['1003', '1004'],
        unknownCard: ['2001'],
      },
      stoppedStatuses: ['DEACTIVATED', 'RETIRED'],
    });
    const { interfaces } = gateway;
    expect([interfaces.realname, interfaces.start]).toEqual([null, null]);
    expect(interfaces.flow).toMatchObject({
      method: 'GET',
      path: '/devices/{iccid}/usage',
      body: null,
      timeoutMs: 3_000,
      reading: { kind: 'megabytes', value: 'data.used[0]', unit: 'bytes' },
    });
    expect(interfaces.stop).toMatchObject({ method: 'PUT', body: { status: 'DEACTIVATED' }, reading: null });
  });

  it('is under what the config file says: key by key, and an interface as a whole where it has a path', async () => {
    const gateway = await load({
      profile: VENDOR,
      env: BASIC,
      config: `
errors: { message: detail }
interfaces:
  flow: { unit: KiB }
  card_status: { path: "/sims/{iccid}", value: state }
  stop: { method: PUT, path: "/sims/{iccid}/off", headers: { X-Reason: over package } }
  realname: { path: "/sims/{iccid}/holder", value: verified, true_values: ["1"] }
stopped_statuses: [off, 2, true]`,
    });
    expect(gateway.errors).toMatchObject({
      path: 'error.code',
      message: 'detail',
      throttled: ['1003', '1004'],
    });
    expect(gateway.stoppedStatuses).toEqual(['off', '2', 'true']);
    const { flow, card_status, stop, realname } = gateway.interfaces;
    expect(flow).toMatchObject({
      path: '/devices/{iccid}/usage',
      timeoutMs: 3_000,
      reading: { unit: 'KiB' },
    });
    expect(card_status).toMatchObject({ path: '/sims/{iccid}', reading: { value: 'state' } });
    expect(stop).toMatchObject({
      path: '/sims/{iccid}/off',
      body: null,
      headers: { 'X-Reason': 'over package' },
    });
    expect(realname).toMatchObject({ reading: { kind: 'verified', trueValues: ['1'] } });
  });

  it.each([
    ['in a config file', (flow: string) => ({ config: flow })],
    ['in a profile', (flow: string) => ({ profile: flow })],
  ])('the short form of 0.2.0 is refused %s, with what to write', async (_, given) => {
    const shown = async (flow: string) => (await refusal(given(`interfaces: { flow: { ${flow} } }`))).message;
    expect(await shown('path: /v2/usage, field: mb')).toMatch(
      /interfaces\.flow\.field is gone: write value: data\.FIELD, and name the card .*body: \{ iccid/,
    );
    expect(await shown('path: /v2/usage, value: data.mb')).toMatch(/no card is named: put \{iccid\} in path/);
  });

  it('may be left out: the config file alone describes a gateway over the default profile', async () => {
    const gateway = await load({
      config: `
success: {}
interfaces:
  flow: { path: "/devices/{iccid}/usage", remaining: volume, total: total_volume, unit: MB }`,
    });
    expect(gateway.success).toBeNull();
    expect(gateway.interfaces.flow).toMatchObject({
      body: null,
      reading: { kind: 'remainder', remaining: 'volume', total: 'total_volume', unit: 'MB' },
    });
    expect(gateway.interfaces.card_status).toMatchObject({
      path: '/card/status',
      body: { iccid: '{iccid}' },
    });
  });

  it('is found next to the config file, or by an absolute path in a variable', async () => {
    const path = join(directory, 'by-variable.yml');
    writeFileSync(path, VENDOR);
    expect(await load({ env: { ...BASIC, CARDPOLL_GATEWAY_PROFILE: path } })).toMatchObject({
      profile: path,
    });
  });

  it('yields to variables', async () => {
    const env = { ...BASIC, CARDPOLL_GATEWAY_STOPPED_STATUSES: 'gone' };
    expect((await load({ profile: VENDOR, env })).stoppedStatuses).toEqual(['gone']);
  });

  it('sends a batch as a list', async () => {
    const { interfaces } = await load({
      config: `
interfaces:
  flow:
    method: POST
    path: /usage
    body: { cards: "{iccids}" }
    value: used
    batch: { size: 100, items: data.list, iccid: iccid }`,
    });
    expect(interfaces.flow?.batch).toEqual({ size: 100, items: 'data.list', iccid: 'iccid', join: ',' });
  });
});

describe('a profile that cannot work is refused, with the place', () => {
  const flow = (rest: string) => `interfaces: { flow: { ${rest} } }`;
  it.each([
    ['no YAML', 'interfaces: [', /ours-\d+\.yaml:1: not valid YAML/],
    ['a list', '- a', /must hold keys and values/],
    [
      'an unknown key',
      'interfces: {}',
      /ours-\d+\.yaml:1: unknown key interfces \(did you mean interfaces\?\)/,
    ],
    ['an unknown interface', 'interfaces: { usage: { path: /x } }', /unknown key interfaces\.usage/],
    ['a profile in a profile', 'profile: default', /unknown key profile/],
    ['a token', 'token: abc', /unknown key token: secrets are never in this file/],
    [
      'a client secret',
      'auth: { kind: oauth2, client_secret: abc }',
      /unknown key auth\.client_secret: secrets/,
    ],
    [
      'no card anywhere',
      flow('path: /usage, value: used'),
      /gateway\.interfaces\.flow: no card is named: put \{iccid\}/,
    ],
    ['no path', flow('value: used'), /flow: path is missing \(or write enabled: off/],
    ['no value', flow('path: "/{iccid}"'), /flow: value is missing \(or remaining and total\)/],
    ['remaining alone', flow('path: "/{iccid}", remaining: left'), /remaining and total belong together/],
    [
      'value and remaining',
      flow('path: "/{iccid}", value: a, remaining: b, total: c'),
      /both value and remaining/,
    ],
    [
      'an unknown placeholder',
      flow('path: "/{imsi}", value: a'),
      /\{imsi\} is no placeholder here; there are \{iccid\}/,
    ],
    [
      'a placeholder in a body that is none',
      flow('method: POST, path: "/{iccid}", body: { a: ["{x}"] }'),
      /\{x\} is no placeholder/,
    ],
    [
      'a placeholder without its end',
      flow('path: "/{iccid}?to={date", value: a'),
      /\{date has no closing brace/,
    ],
    [
      'a placeholder in a body without its end',
      flow('method: POST, path: "/{iccid}", body: { a: "{card_id" }'),
      /\{card_id has no closing brace/,
    ],
    ['a body with GET', flow('method: GET, path: "/{iccid}", value: a, body: { a: 1 }'), /GET has no body/],
    [
      'body and form',
      flow('method: POST, path: "/{iccid}", value: a, body: { a: 1 }, form: { b: 1 }'),
      /more than one of body, body_text and form/,
    ],
    ['a value that is no path', flow('path: "/{iccid}", value: "a..b"'), /"a\.\.b" is no place in an answer/],
    ['an unknown unit', flow('path: "/{iccid}", value: a, unit: kb'), /"kb" is none of bytes, KB/],
    ['words of units at the wrong place', flow('units: { M: MB }'), /flow\.units \(did you mean units\?\)/],
    ['a word for no unit', 'units: { M: Mbit }', /units: M: "Mbit" is none of bytes, KB/],
    ['a list of words', 'units: [M]', /units: \["M"\] must hold words and units, such as \{M: MB\}/],
    [
      'a word with two meanings',
      'units: { M: MB, m: MiB }',
      /units: M is MB, and m is MiB, but they are one word: capitals do not count/,
    ],
    ['a unit that is another one', 'units: { mb: GB }', /units: mb is the unit MB, and cannot mean GB/],
    [
      'a unit that the words replace',
      `units: { MB: MiB }\n${flow('path: "/{iccid}", value: a, unit: MB')}`,
      /unit is MB, but gateway\.units says that this means MiB: write unit: MiB/,
    ],
    [
      'a unit for a text',
      'interfaces: { card_status: { path: "/{iccid}", value: a, unit: MB } }',
      /unknown key interfaces\.card_status\.unit \(did you mean interfaces\.flow\.unit\?\)$/m,
    ],
    [
      'a batch of stops',
      'interfaces: { stop: { batch: { size: 5, iccid: b } } }',
      /unknown key interfaces\.stop\.batch \(did you mean interfaces\.realname\.batch\?\)$/m,
    ],
    [
      'a misspelt key',
      flow('metod: GET'),
      /unknown key interfaces\.flow\.metod \(did you mean interfaces\.flow\.method\?\)/,
    ],
    [
      'a header of the connection',
      flow('path: "/{iccid}", value: a, headers: { Host: b }'),
      /"Host" cannot be used/,
    ],
    [
      'credentials as a header',
      flow('path: "/{iccid}", value: a, headers: { Authorization: b }'),
      /"Authorization" cannot be used/,
    ],
    [
      'a header over two lines',
      flow('path: "/{iccid}", value: a, headers: { x: "b\\r\\nc: d" }'),
      /x: is not one line/,
    ],
    [
      'a batch without cards',
      flow('path: "/{iccid}", value: a, batch: { size: 5, iccid: b }'),
      /batch needs \{iccids\}/,
    ],
    ['cards without a batch', flow('path: "/{iccids}", value: a'), /\{iccids\} needs batch/],
    [
      'a batch of one',
      flow('path: "/{iccids}", value: a, batch: { size: 1, iccid: b }'),
      /size must be a whole number from 2 to 1000/,
    ],
    [
      'a batch without a card number',
      flow('path: "/{iccids}", value: a, batch: { size: 5 }'),
      /batch: iccid is missing: where an item of the list has its card number/,
    ],
    ['success without values', 'success: { path: code }', /success: values is missing/],
    ['success without a path', 'success: { values: [0] }', /success: path is missing/],
    [
      'codes without a path',
      `errors: { throttled: [1] }\n${flow('path: "/{iccid}", value: a')}`,
      /gateway\.errors: path is missing/,
    ],
    ['nothing to poll', 'stopped_statuses: [off]', /gateway\.interfaces: the profile offers none/],
    [
      'statuses that are never stopped',
      'interfaces: { card_status: { path: "/{iccid}", value: a } }',
      /gateway\.stopped_statuses: is missing/,
    ],
    [
      'a stop that nothing confirms',
      'interfaces: { stop: { method: PUT, path: "/{iccid}" } }',
      /stop: needs card_status/,
    ],
  ])('%s', async (_, profile, expected) => {
    expect((await refusal({ profile })).message).toMatch(expected);
  });

  it('all problems at once', async () => {
    const profile =
      '{ stopped_statuses: [off], interfaces: { flow: { path: usage, unit: kb }, stop: { path: /x }, card_status: { value: a } } }';
    const { fields } = await refusal({ profile });
    for (const { message } of fields) expect(message).toMatch(/^\/.+\.yaml:1 /);
    expect(fields.map(({ field }) => field).sort()).toEqual([
      'gateway.interfaces.card_status',
      'gateway.interfaces.flow',
      'gateway.interfaces.flow.path',
      'gateway.interfaces.flow.unit',
      'gateway.interfaces.stop',
    ]);
  });

  const problemsOf = async (given: Given) =>
    (await refusal(given)).fields.map(({ message }) => message.replace(/^\/\S+:(\d+):? /, '$1 '));

  it('several problems of one interface, also next to a value that is refused', async () => {
    const profile = `interfaces:
  flow:
    method: GET
    path: /usage
    body: { a: "{imsi}", b: "{eid}" }
    form: { c: "{iccid}" }
    value: a..b
    remaining: left
    unit: kb
    unit_value: c
    batch: { size: 1, join: ab, more: 1 }
  stop: { method: POST, path: /stop }
errors: { throttled: [1] }`;
    expect(await problemsOf({ profile })).toEqual([
      expect.stringMatching(
        /^5 interfaces\.flow\.body: \{imsi\}, \{eid\} are no placeholders here; there are/,
      ),
      expect.stringMatching(/^7 interfaces\.flow\.value: "a\.\.b" is no place/),
      expect.stringMatching(/^9 interfaces\.flow\.unit: "kb" is none of/),
      expect.stringMatching(
        /^11 interfaces\.flow\.batch: iccid is missing: .*; size must be .*; join must be .*; unknown key more; there are/,
      ),
      '3 gateway.interfaces.flow: has more than one of body, body_text and form: keep one',
      '3 gateway.interfaces.flow: GET has no body: put it in query, or use another method',
      '3 gateway.interfaces.flow: a batch names its cards by {iccids} only: remove {iccid}, {card_id} and {vendor_id}',
      '3 gateway.interfaces.flow: has both value and remaining: keep value, or remaining with total',
      '3 gateway.interfaces.flow: remaining and total belong together: give both',
      '3 gateway.interfaces.flow: has both unit and unit_value: keep one',
      '12 gateway.interfaces.stop: no card is named: put {iccid} in path, query, body or form',
      '13 gateway.errors: path is missing: where an answer has its error code',
      '12 gateway.interfaces.stop: needs card_status, which shows whether the call took effect',
    ]);
  });

  it('problems of every part, and none that only follows from another', async () => {
    const profile = `auth: { kind: login, request: { path: in, form: { u: "{user}", p: "{pass}" }, batch: 1 }, good_for: 0 }
success: { path: a..b, values: [[1], null] }
errors: { throttled: [1] }
stopped_statuses: []
units: { M: Mbit, mb: GB }
interfaces:
  card_status: { path: "/{imsi}", value: state }
  stop: { path: "/{username}/{iccid}", timeout_ms: never }
  flow: { enabled: false }`;
    const env = { CARDPOLL_GATEWAY_PASSWORD: 'a', CARDPOLL_GATEWAY_USERNAME: 'b' };
    const problems = await problemsOf({ profile, env });
    expect(problems.sort()).toEqual([
      expect.stringMatching(/^1 auth\.good_for: .* out of bounds/),
      expect.stringMatching(
        /^1 auth\.request: path: "in" is not a path.*; form: \{user\}, \{pass\} are no placeholders here; .*; unknown key batch/,
      ),
      expect.stringMatching(
        /^2 success: path: "a\.\.b" is no place .*; values: \[1\] is no text, number, true or false; null is no text/,
      ),
      expect.stringMatching(/^4 stopped_statuses: the list is empty/),
      expect.stringMatching(/^5 units: M: "Mbit" is none of .*; mb is the unit MB, and cannot mean GB/),
      expect.stringMatching(/^7 interfaces\.card_status\.path: \{imsi\} is no placeholder/),
      expect.stringMatching(/^8 interfaces\.stop\.timeout_ms: "never" is not a duration/),
      expect.stringMatching(/^gateway\.auth\.kind login needs gateway\.auth\.token/),
    ]);
  });

  it('ten problems of one value, and how many more there are', async () => {
    const words = Array.from({ length: 13 }, (_, i) => `w${i}: kb`).join(', ');
    const [problem] = await problemsOf({
      profile: `units: { ${words} }\n${flow('path: "/{iccid}", value: a')}`,
    });
    expect(problem).toMatch(/w9: "kb" is none of [^;]*; and 3 more problems$/);
  });

  it.each([
    [
      'a name that is not shipped',
      'defalt',
      /defalt is no shipped profile \(did you mean default\?\); there are default/,
    ],
    ['a file that is missing', './absent.yaml', /gateway\.profile: no such file: .*absent\.yaml/],
    ['a directory', `${directory}/`, /gateway\.profile: .* is a directory, not a regular file/],
  ])('%s', async (_, name, expected) => {
    expect((await refusal({ config: `profile: ${name}` })).message).toMatch(expected);
  });

  it('a file that every user can write, or one without an end', async () => {
    const open = join(directory, 'open.yaml');
    writeFileSync(open, VENDOR);
    chmodSync(open, 0o666);
    expect((await refusal({ config: `profile: ${open}` })).message).toMatch(/every user can write/);
    const long = join(directory, 'long.yaml');
    writeFileSync(long, `# ${'x'.repeat(1_100_000)}`);
    expect((await refusal({ config: `profile: ${long}` })).message).toMatch(/is larger than 1 MiB/);
  });
});

describe('credentials', () => {
  const bearer = { CARDPOLL_GATEWAY_TOKEN: 'token-for-gateway' };
  it.each([
    ['bearer', 'auth: { kind: bearer }', bearer],
    ['a token in a header', 'auth: { kind: header, name: X-Api-Key }', bearer],
    ['a token in the query', 'auth: { kind: query, name: key }', bearer],
    ['basic', 'auth: { kind: basic }', BASIC],
    [
      'oauth2',
      'auth: { kind: oauth2, token_url: /oauth/token, scope: sims }',
      { CARDPOLL_GATEWAY_CLIENT_ID: 'a', CARDPOLL_GATEWAY_CLIENT_SECRET: 'b c' },
    ],
    ['a signature', 'auth: { kind: hmac }', { CARDPOLL_GATEWAY_HMAC_KEY: 'key' }],
    ['none', 'auth: { kind: none }', {}],
  ])('credentials of kind %s are accepted', async (_, config, env) => {
    await expect(load({ config, env })).resolves.toBeDefined();
  });

  it.each([
    [
      'bearer without a token',
      'auth: { kind: bearer }',
      {},
      /kind bearer needs CARDPOLL_GATEWAY_TOKEN or CARDPOLL_GATEWAY_TOKEN_FILE/,
    ],
    [
      'basic without a password',
      'auth: { kind: basic }',
      { CARDPOLL_GATEWAY_USERNAME: 'a' },
      /kind basic needs CARDPOLL_GATEWAY_PASSWORD/,
    ],
    [
      'a user with a colon',
      'auth: { kind: basic }',
      { ...BASIC, CARDPOLL_GATEWAY_USERNAME: 'a:b' },
      /must not have a colon/,
    ],
    ['a header without a name', 'auth: { kind: header }', bearer, /kind header needs gateway\.auth\.name/],
    [
      'a header with a bad name',
      'auth: { kind: header, name: "a b" }',
      bearer,
      /"a b" is no name of a header/,
    ],
    [
      'a header of the connection',
      'auth: { kind: header, name: Content-Length }',
      bearer,
      /"Content-Length" is no name of a header for a token/,
    ],
    [
      'oauth2 without an address',
      'auth: { kind: oauth2 }',
      { CARDPOLL_GATEWAY_CLIENT_ID: 'a', CARDPOLL_GATEWAY_CLIENT_SECRET: 'b' },
      /needs gateway\.auth\.token_url/,
    ],
    [
      'oauth2 at an odd address',
      'auth: { kind: oauth2, token_url: "ftp://x" }',
      {},
      /token_url: must be an http or https URL/,
    ],
    [
      'a token that nothing uses',
      'auth: { kind: basic }',
      { ...BASIC, ...bearer },
      /CARDPOLL_GATEWAY_TOKEN is set, but gateway\.auth\.kind basic does not use it/,
    ],
    [
      'a user without a kind',
      '',
      BASIC,
      /CARDPOLL_GATEWAY_USERNAME is set, but gateway\.auth\.kind none does not use it/,
    ],
  ])('%s is refused', async (_, config, env, expected) => {
    const { message } = await refusal({ config, env });
    expect(message).toMatch(expected);
    expect(message).not.toContain('a secret');
  });
});

describe('pending', () => {
  const profileOf = (stop: string, status = '') => `
auth: { kind: none }
stopped_statuses: [OFF]
interfaces:
  card_status: { path: "/{iccid}", value: status${status} }
  stop: { method: POST, path: "/{iccid}/stop"${stop} }
`;
  const problemsOf = async (stop: string, status = '') =>
    (await refusal({ profile: profileOf(stop, status) })).message;

  it('says which answers mean that the vendor works on it, and for how long', async () => {
    const stop = ', pending: { path: d.state, values: [PENDING, 7], for: 5m }';
    const { interfaces } = await load({ profile: profileOf(stop, ', pending: { values: [CHANGING] }') });
    expect(interfaces.stop?.pending).toEqual({ path: 'd.state', values: ['PENDING', 7], forMs: 300_000 });
    expect(interfaces.card_status?.pending).toEqual({ path: null, values: ['CHANGING'], forMs: 600_000 });
  });

  it('may be every success of a stop', async () => {
    const { interfaces } = await load({ profile: profileOf(', pending: { for: 1s }') });
    expect(interfaces.stop?.pending).toEqual({ path: null, values: [], forMs: 1_000 });
    expect(interfaces.card_status?.pending).toBeNull();
  });

  it.each([
    [', pending: 5m', '', /pending: "5m" must be \{path, values, for\}/],
    [', pending: { for: 0s }', '', /for:/],
    [', pending: { for: 25h }', '', /for:/],
    [', pending: { values: [A] }', '', /pending needs path/],
    [', pending: { path: a }', '', /pending needs values/],
    ['', ', pending: { for: 5m }', /pending needs values/],
    ['', ', pending: { values: [OFF] }', /OFF cannot mean both stopped and pending/],
  ])('is refused: %s%s', async (stop, status, problem) => {
    expect(await problemsOf(stop, status)).toMatch(problem);
  });

  it('is refused with all of its problems at once', async () => {
    const problems = await problemsOf(', pending: { path: "a b", values: [[]], for: soon, until: 5 }');
    for (const problem of [/path:/, /values:/, /for:/, /unknown key until/])
      expect(problems).toMatch(problem);
  });

  it('is for stop, start and card_status only', async () => {
    const profile = 'interfaces: { flow: { path: "/{iccid}", value: a, pending: { for: 5m } } }';
    expect((await refusal({ profile })).message).toMatch(/pending/);
  });
});
