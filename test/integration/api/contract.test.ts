// Every route the served OpenAPI document lists, from outside: what it accepts, and what it answers to everything else.
// No route is named here: a new one is tested as soon as it is served.
import { execFile } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { generateSource } from 'oazapfts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiUnderTest, type Call, type Reply, startApi } from '../../support/api-under-test.ts';
import { cardRow } from '../../support/cards.ts';
import { freshDatabase, freshRedis } from '../../support/fresh-stores.ts';
import { misfit, problemsOfOpenApi } from '../../support/openapi-schema.ts';
import { misfitsOf, type Schema, sampleOf } from '../../support/schema-samples.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly schema: Schema;
}
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Record<string, { schema: Schema }>;
  };
  readonly responses: Record<string, { readonly content?: Record<string, { schema: object }> }>;
}

const TOKENS = [
  { role: 'viewer' as const, token: 'viewer-token-viewer-token' },
  { role: 'operator' as const, token: 'operator-token-operator-token' },
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const JSON_TYPE = { 'content-type': 'application/json' };
/** Values of path parameters that name something; others get 1. */
const KNOWN: Record<string, string> = { task_type: 'realname' };
const UNKNOWN = ['no-such-thing', '999999999', '00000000-0000-4000-8000-000000000000', '__proto__'];

let api: ApiUnderTest;
let closed: ApiUnderTest;
// biome-ignore lint/suspicious/noExplicitAny: the document under test
let document: any;
let operations: Operation[];

beforeAll(async () => {
  const stores = { redisUrl: (await freshRedis()).url, databaseUrl: await freshDatabase() };
  api = await startApi(stores);
  closed = await startApi({ ...stores, tokens: TOKENS });
  await api.records.cards.importChunk([cardRow(1, { allowanceMb: 500 })]);
  document = (await api.call('GET', '/openapi.json')).body;
  operations = Object.entries(resolved(document).paths as Record<string, Record<string, object>>).flatMap(
    ([path, all]) =>
      Object.entries(all).map(
        ([method, one]) => ({ ...one, method: method.toUpperCase(), path }) as Operation,
      ),
  );
});
/** The document with what it refers to in place. */
// biome-ignore lint/suspicious/noExplicitAny: the document under test
function resolved(node: any): any {
  if (Array.isArray(node)) return node.map(resolved);
  if (typeof node !== 'object' || node === null) return node;
  const name = /^#\/components\/schemas\/(\w+)$/.exec(node.$ref ?? '')?.[1];
  if (name !== undefined) return resolved(document.components.schemas[name]);
  return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, resolved(inner)]));
}
afterAll(async () => {
  await api.close();
  await closed.close();
});

const urlOf = ({ path }: Operation, value?: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value ?? KNOWN[name] ?? '1'));
const bodySchema = ({ requestBody }: Operation) => requestBody?.content['application/json']?.schema;
const changing = () => operations.filter(({ method }) => ['POST', 'PUT', 'PATCH'].includes(method));
const withJson = () => changing().filter((operation) => bodySchema(operation) !== undefined);
const nameOf = ({ method, path }: Operation) => `${method} ${path}`;

async function send(operation: Operation, call: Call = {}, url = urlOf(operation)): Promise<Reply> {
  return api.call(operation.method, url, call);
}

function expectProblem(reply: Reply, status: number, what: string): void {
  expect([what, reply.status, reply.body?.code]).toEqual([what, status, expect.stringMatching(/^[a-z_]+$/)]);
  expect(reply.headers['content-type'], what).toMatch(/^application\/problem\+json/);
  expect(reply.body, what).toMatchObject({
    type: `urn:cardpoll:problem:${reply.body.code}`,
    title: expect.stringMatching(/\w/),
    status,
    detail: expect.stringMatching(/\w/),
    instance: expect.stringMatching(/^\//),
    request_id: reply.headers['x-request-id'],
  });
  if (status === 422) {
    const wrong = { field: expect.stringMatching(/\w/), message: expect.stringMatching(/\w/) };
    expect(reply.body.errors, what).toEqual(expect.arrayContaining([wrong]));
  }
}

describe('the document', () => {
  it('is valid OpenAPI 3.1', () => {
    expect(problemsOfOpenApi(document)).toEqual([]);
  });

  it('would not be with a mistake in it', () => {
    const [path] = Object.keys(document.paths);
    const spoiled = structuredClone(document);
    spoiled.paths[path as string].get.responses['2000'] = {};
    spoiled.paths['/x/{y}'] = { get: { summary: '', tags: [], responses: { 200: { description: '' } } } };
    spoiled.components.schemas.wrong = {};
    spoiled.paths['/z'] = { put: { requestBody: { content: { a: { schema: { type: 'text' } } } } } };
    expect(problemsOfOpenApi(spoiled).length).toBeGreaterThanOrEqual(4);
  });

  it('names every operation once, and what is used more than once', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids.filter((id) => !/^(get|put|post|delete)[A-Z]\w+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(operations.length);
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'Problem',
        'Overview',
        'AlertRule',
        'Alert',
        'PollingConfig',
        'Card',
        'Trigger',
      ]),
    );
    expect(document.servers).toEqual([expect.objectContaining({ url: '/' })]);
  });

  it('passes a common linter', async () => {
    const config = await createConfig({ extends: ['recommended'], rules: { 'info-license': 'off' } });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  });

  it('gives a client that compiles', async () => {
    const directory = temporaryDirectory('client');
    const spec = join(directory, 'openapi.json');
    await writeFile(spec, JSON.stringify(document));
    await writeFile(join(directory, 'client.ts'), await generateSource(spec));
    const use = [
      `import { type AlertRule, defaults, getPollingAlertRulesById, putPollingConfigsById } from './client.ts';`,
      `defaults.baseUrl = 'http://127.0.0.1:7480';`,
      'export async function use(): Promise<AlertRule | string> {',
      `  const changed = await putPollingConfigsById('1', { status: 0 }, { ifMatch: '"x"' });`,
      `  if (changed.status === 412) return changed.data.detail;`,
      `  const { data } = await getPollingAlertRulesById('1');`,
      `  return 'threshold' in data ? data : data.detail;`,
      '}',
    ];
    await writeFile(join(directory, 'use.ts'), use.join('\n'));
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));
    const flags =
      '--noEmit --strict --skipLibCheck --target es2022 --module nodenext --allowImportingTsExtensions';
    const tsc = join(root, 'node_modules/.bin/tsc');
    await promisify(execFile)(tsc, [...flags.split(' '), 'use.ts'], { cwd: directory });
  });

  it('describes the problem every operation may answer with', () => {
    for (const { responses, ...operation } of operations) {
      expect(Object.keys(responses.default?.content ?? {}), nameOf(operation as Operation)).toEqual([
        'application/problem+json',
      ]);
    }
  });

  it('offers an Idempotency-Key for every POST that takes JSON or nothing', () => {
    for (const operation of operations.filter(({ method }) => method === 'POST')) {
      const streams = operation.requestBody !== undefined && bodySchema(operation) === undefined;
      const offered = (operation.parameters ?? []).some(({ name }) => name === 'idempotency-key');
      expect([nameOf(operation), offered]).toEqual([nameOf(operation), !streams]);
    }
  });
});

describe('every operation', () => {
  it('answers valid input as it is described, and never with a failure', async () => {
    let succeeded = 0;
    for (const operation of operations) {
      const schema = bodySchema(operation);
      const reply = await send(operation, schema === undefined ? {} : { json: sampleOf(schema) });
      if (reply.status >= 400) {
        // The example names a card or rule that does not exist, breaks a rule between fields, or has no file with it.
        expect([400, 404, 409, 422], nameOf(operation)).toContain(reply.status);
        expectProblem(reply, reply.status, nameOf(operation));
        continue;
      }
      succeeded += 1;
      const described = operation.responses[String(reply.status)];
      expect(described, `${nameOf(operation)}: ${reply.status}`).toBeDefined();
      const answer = described?.content?.['application/json']?.schema;
      if (answer !== undefined)
        expect([nameOf(operation), misfit(answer, reply.body)]).toEqual([nameOf(operation), null]);
    }
    expect(succeeded).toBeGreaterThan(operations.length * 0.6);
  });

  it('refuses every other method with 405 and lists the right ones', async () => {
    const paths = new Map<string, string[]>();
    for (const { path, method } of operations) paths.set(path, [...(paths.get(path) ?? []), method]);
    for (const [path, allowed] of paths) {
      for (const method of METHODS.filter((one) => !allowed.includes(one))) {
        const reply = await api.call(method, urlOf({ path } as Operation));
        expectProblem(reply, 405, `${method} ${path}`);
        const told = String(reply.headers.allow).split(', ');
        expect(told.filter((one) => one !== 'HEAD').sort(), path).toEqual([...allowed].sort());
      }
    }
  });

  it('PUT answers with the version, and refuses another one', async () => {
    const puts = operations.filter(({ method }) => method === 'PUT');
    expect(puts.length).toBeGreaterThan(3);
    for (const operation of puts) {
      const parent = operation.path.replace(/\/\{\w+\}$/, '');
      const maker = operations.find(({ method, path }) => method === 'POST' && path === parent);
      const json = maker === undefined ? null : sampleOf(bodySchema(maker) as Schema);
      const made = json === null ? null : await api.call('POST', parent, { json });
      const url = urlOf(operation, made === null ? undefined : String(made.body.id));
      const name = nameOf(operation);
      const put = (match: unknown) =>
        api.call('PUT', url, {
          json: sampleOf(bodySchema(operation) as Schema),
          headers: { 'if-match': String(match) },
        });
      const { etag } = (await api.call('GET', url)).headers;
      expect([name, etag]).toEqual([name, expect.stringMatching(/^"[\w-]+"$/)]);
      expectProblem(await put('"of another time"'), 412, name);
      const changed = await put(etag);
      expect([name, changed.status, changed.headers.etag]).toEqual([name, 200, expect.any(String)]);
      expect([name, (await api.call('GET', url)).headers.etag]).toEqual([name, changed.headers.etag]);
    }
  });

  it('answers 404 for unknown ids', async () => {
    for (const operation of operations.filter(({ path }) => path.includes('{'))) {
      const schema = bodySchema(operation);
      const call = schema === undefined ? {} : { json: sampleOf(schema) };
      for (const id of UNKNOWN) {
        expectProblem(await send(operation, call, urlOf(operation, id)), 404, `${nameOf(operation)} ${id}`);
      }
    }
  });

  it('refuses queries that make no sense, by name', async () => {
    for (const operation of operations) {
      for (const { name, in: place } of operation.parameters ?? []) {
        if (place !== 'query') continue;
        const reply = await send(operation, {}, `${urlOf(operation)}?${name}=%00nonsense`);
        expectProblem(reply, 422, `${nameOf(operation)}?${name}`);
        expect(reply.body.errors, name).toEqual([expect.objectContaining({ field: name })]);
      }
    }
  });
});

describe('strictness', () => {
  const strict = () => operations.filter(({ path }) => !/^\/(livez|readyz)$/.test(path));

  it('refuses an unknown query parameter of every operation but the two probes, by name', async () => {
    for (const operation of strict()) {
      const schema = bodySchema(operation);
      const call = schema === undefined ? {} : { json: sampleOf(schema) };
      // The example breaks a rule of the body, which is judged before the query.
      if ((await send(operation, call)).status === 422) continue;
      const reply = await send(operation, call, `${urlOf(operation)}?no_such_parameter=1`);
      expectProblem(reply, 422, nameOf(operation));
      expect(reply.body.errors, nameOf(operation)).toContainEqual({
        field: 'no_such_parameter',
        message: 'is not a known field',
      });
    }
    for (const path of ['/livez?no_such_parameter=1', '/readyz?no_such_parameter=1'])
      expect([path, (await api.call('GET', path)).status]).toEqual([path, 200]);
  });

  it('refuses a body where none is taken, and takes an empty object for none', async () => {
    for (const operation of strict().filter(({ requestBody }) => requestBody === undefined)) {
      const name = nameOf(operation);
      const reply = await send(operation, { json: { no_such_field: 1 } });
      expectProblem(reply, 422, name);
      for (const json of [[], 'text', 1]) expectProblem(await send(operation, { json }), 422, name);
      if (operation.method === 'GET') continue;
      expect([name, (await send(operation, { json: {} })).status]).not.toEqual([name, 422]);
    }
  });

  it('changes nothing with a request it refuses', async () => {
    const pauses = '/api/admin/polling-pauses';
    const json = { task_type: 'realname', seconds: 600 };
    await api.call('POST', pauses, { json });
    for (const wrong of [{ path: '?tasktype=carddata' }, { path: '', json: { task_type: 'carddata' } }]) {
      const { path, ...call } = wrong;
      expect((await api.call('DELETE', pauses + path, call)).status).toBe(422);
    }
    expect((await api.call('GET', pauses)).body.items).toHaveLength(1);
    expect((await api.call('DELETE', `${pauses}?task_type=realname`)).body.items).toHaveLength(1);
    const body = 'card_id,iccid\n4711,89860000000000004711\n';
    const headers = { 'content-type': 'text/csv' };
    const dry = await api.call('POST', '/api/admin/cards/import?dryrun=true', { body, headers });
    expect([dry.status, (await api.call('GET', '/api/admin/cards/4711')).status]).toEqual([422, 404]);
  });
});

describe('bodies', () => {
  it('bodies of another type are refused with 415', async () => {
    for (const operation of changing()) {
      for (const type of ['text/plain', 'application/xml', 'multipart/form-data', 'nonsense']) {
        const reply = await send(operation, { body: '{}', headers: { 'content-type': type } });
        expectProblem(reply, 415, `${nameOf(operation)} ${type}`);
      }
    }
  });

  it('bodies of malformed or poisoned JSON are refused with 400', async () => {
    for (const operation of changing().filter((one) => one.requestBody === undefined || bodySchema(one))) {
      for (const body of [
        '{"a": ',
        '{a: 1}',
        'null}',
        '{"__proto__": {"x": 1}}',
        '{"constructor": {"prototype": {}}}',
      ]) {
        const reply = await send(operation, { body, headers: JSON_TYPE });
        expectProblem(reply, 400, `${nameOf(operation)} ${body}`);
      }
    }
  });

  it('over 1 MiB are refused with 413, over 2 MiB where they list many cards', async () => {
    for (const operation of changing().filter((one) => one.requestBody === undefined || bodySchema(one))) {
      const takesLongLists = /\/stops\/(release|dismiss|resume)$/.test(operation.path);
      const limit = 1024 * 1024 * (takesLongLists ? 2 : 1);
      const body = JSON.stringify({ filler: 'x'.repeat(limit) });
      expectProblem(await send(operation, { body, headers: JSON_TYPE }), 413, nameOf(operation));
    }
  });

  it('bodies that are no object, or have unknown fields, are refused with 422', async () => {
    for (const operation of withJson()) {
      const sample = sampleOf(bodySchema(operation) as Schema) as object;
      for (const json of [[], 'text', 1, null]) {
        expectProblem(await send(operation, { json }), 422, `${nameOf(operation)} ${JSON.stringify(json)}`);
      }
      const reply = await send(operation, { json: { ...sample, no_such_field: 1 } });
      expectProblem(reply, 422, `${nameOf(operation)} no_such_field`);
      expect(reply.body.errors).toEqual(
        expect.arrayContaining([expect.objectContaining({ field: 'no_such_field' })]),
      );
    }
  });

  it('with one wrong field are refused with 422 and its name', async () => {
    for (const operation of withJson()) {
      const schema = bodySchema(operation) as Schema;
      const sample = sampleOf(schema) as Record<string, unknown>;
      for (const [field, inner] of Object.entries(schema.properties ?? {})) {
        const missing = (schema.required ?? []).includes(field) ? [undefined] : [];
        for (const value of [...misfitsOf(inner), ...missing]) {
          const reply = await send(operation, { json: { ...sample, [field]: value } });
          const what = `${nameOf(operation)} ${field}: ${JSON.stringify(value)}`;
          expectProblem(reply, 422, what);
          const named = reply.body.errors.map((one: { field: string }) => one.field.split('.')[0]);
          expect([what, named]).toEqual([what, expect.arrayContaining([field])]);
        }
      }
    }
  });
});

describe('browsers', () => {
  it('neither keep an answer nor guess its type, and send nothing for pages of other sites', async () => {
    for (const path of ['/livez', '/no/such/path', '/api/admin/whoami']) {
      const { headers } = await api.call('GET', path);
      expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    }
    const whoami = (site: string) =>
      api.call('GET', '/api/admin/whoami', { headers: { 'sec-fetch-site': site } });
    for (const site of ['cross-site', 'same-site']) expectProblem(await whoami(site), 403, site);
    for (const site of ['same-origin', 'none']) expect((await whoami(site)).status).toBe(200);
  });
});

describe('with tokens', () => {
  const guarded = () => operations.filter(({ path }) => path.startsWith('/api/admin') || path === '/metrics');

  it('everything but the probes needs one, whatever else is wrong', async () => {
    expect(guarded().length).toBeGreaterThan(15);
    for (const operation of guarded()) {
      for (const headers of [{}, { authorization: 'Bearer nobody-knows-this-token' }]) {
        const reply = await closed.call(operation.method, urlOf(operation), { headers });
        expectProblem(reply, 401, nameOf(operation));
        expect(reply.headers['www-authenticate']).toMatch(/^Bearer/);
      }
    }
    for (const operation of operations.filter((one) => !guarded().includes(one))) {
      expect(nameOf(operation)).toMatch(/^GET \/(livez|readyz|version|openapi\.json)$/);
    }
  });

  it('a viewer changes nothing', async () => {
    const headers = { authorization: `Bearer ${TOKENS[0]?.token}` };
    for (const operation of guarded().filter(({ method }) => method !== 'GET')) {
      const reply = await closed.call(operation.method, urlOf(operation), { headers, json: {} });
      expectProblem(reply, 403, nameOf(operation));
    }
  });
});
